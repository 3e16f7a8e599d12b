#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/spaces.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::wave2d::test_measured_kernel {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Kind = ProcessingUnit::Kind;
using tests::Allocations;

std::vector<Kind> kinds() {
  if (has_companion) return {Kind::host, Kind::companion};
  return {Kind::host};
}

MeasuredKernel kernel_of(std::int64_t columns, ElementType element, int time_tile = 1, int order = 2) {
  return {Problem{0, columns, 0.5, Boundary::dirichlet, order}, element, time_tile};
}

/// A kernel as `steelyard measure wave2d` would have it.
MeasuredKernel parsed(const std::vector<std::string>& words) {
  MeasuredKernel kernel;
  CLI::App parser("measures", "measure");
  kernel.add_options(parser);
  std::vector<const char*> arguments{"measure"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  return kernel;
}

}  // namespace

TEST_CASE("a pass moves 3 or 6 elements per point, and a step takes 7 or 12 operations") {
  const int order = GENERATE(2, 4);
  const auto [element, bytes] = GENERATE(std::pair(ElementType::float64, 8.0), std::pair(ElementType::float32, 4.0));
  for (const std::int64_t columns : {3, 64, 4096}) {
    for (const int steps : {1, 2, 7, 64}) {
      const auto points = static_cast<double>(columns);
      const KernelFacts facts = kernel_of(columns, element, steps, order).facts();
      // All steps of a pass together: one is made in place, several are not. What the stencil reads beside the point is
      // in a cache.
      CHECK(facts.bytes_per_unit == (steps == 1 ? 3.0 : 6.0) * bytes * points);
      // Products that are added count twice: one for the centre and the old value, one for the sum of each distance's
      // four neighbours, which takes three.
      CHECK(facts.flops_per_unit == (order == 2 ? 7.0 : 12.0) * points * steps);
      CHECK(facts.element == element_name(element));
      CHECK(facts.app == "wave2d");
      CHECK(facts.parameters.at("columns") == points);
      CHECK(facts.parameters.at("time_tile") == steps);
      CHECK(facts.parameters.at("order") == order);
      CHECK_FALSE(facts.computation_unit.empty());
      CHECK(facts.smallest >= 1);
      CHECK(facts.largest > facts.smallest);
      CHECK_FALSE(facts.runs_out_of_core);
    }
  }
}

TEST_CASE("an instance takes no more memory than the kernel says, and not much less where it is large") {
  const int order = GENERATE(2, 4);
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const std::int64_t columns : {3, 8, 64, 128, 513, 2048}) {
      for (const int steps : {1, 2, 8}) {
        const MeasuredKernel kernel = kernel_of(columns, element, steps, order);
        const KernelFacts facts = kernel.facts();
        for (const Kind kind : kinds()) {
          for (const std::int64_t rows : {1, 2, 1000}) {
            CAPTURE(columns, rows, steps, order, element_name(element));
            const Allocations allocations;
            const std::unique_ptr<KernelRun> run = kernel.allocate(kind, rows);
            const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(rows);
            CHECK(allocations.bytes() > 0.0);
            CHECK(allocations.bytes() <= told);
            // A device has no use for what hosts leave free in huge pages.
            const bool tight = kind == Kind::host || !companion_is_device;
            if (tight && rows == 1000 && columns >= 512) CHECK(allocations.bytes() >= 0.75 * told);
          }
        }
      }
    }
  }
}

TEST_CASE("a run allocates nothing once Kokkos has what it needs itself") {
  const int steps = GENERATE(1, 4);
  const MeasuredKernel kernel = kernel_of(64, ElementType::float64, steps, GENERATE(2, 4));
  for (const Kind kind : kinds()) {
    const std::unique_ptr<KernelRun> run = kernel.allocate(kind, 20);
    run->run();
    const Allocations allocations;
    for (int i = 0; i < 3; ++i) run->run();
    CHECK(allocations.bytes() == 0.0);
  }
}

TEST_CASE("options fix what a computation unit is") {
  CHECK(parsed({"--columns", "77"}).facts().parameters.at("columns") == 77.0);
  CHECK(parsed({"--type", "float"}).facts().element == "float");
  CHECK(parsed({}).facts().element == "double");
  CHECK(parsed({"--columns", "77", "--type", "float"}).facts().bytes_per_unit == 12.0 * 77.0);
  for (const char* columns : {"2", "0", "-5", "many"}) {
    CHECK_THROWS_MATCHES(parsed({"--columns", columns}), InvalidArgument,
                         MessageMatches(ContainsSubstring("--columns")));
  }
  CHECK_THROWS_MATCHES(parsed({"--type", "int"}), InvalidArgument, MessageMatches(ContainsSubstring("int")));

  CHECK(parsed({}).facts().parameters.at("order") == 2.0);
  CHECK(parsed({"--order", "4"}).facts().parameters.at("order") == 4.0);
  for (const char* order : {"3", "0", "-2", "6", "four"}) {
    CHECK_THROWS_MATCHES(parsed({"--order", order}), InvalidArgument, MessageMatches(ContainsSubstring("--order")));
  }
  CHECK(parsed({}).facts().parameters.at("time_tile") == 1.0);
  const KernelFacts eight = parsed({"--time-tile", "8", "--columns", "50"}).facts();
  CHECK(eight.parameters.at("time_tile") == 8.0);
  CHECK(eight.bytes_per_unit == 6 * 8.0 * 50.0);
  CHECK(eight.computation_unit != parsed({}).facts().computation_unit);
  for (const char* steps : {"0", "-1", "65", "1.5", "auto", "many"}) {
    CHECK_THROWS_MATCHES(parsed({"--time-tile", steps}), InvalidArgument,
                         MessageMatches(ContainsSubstring("--time-tile")));
  }
}

}  // namespace steelyard::wave2d::test_measured_kernel
