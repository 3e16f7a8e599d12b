#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/spaces.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::wave2d::test_measured_kernel {
namespace {

using Kind = ProcessingUnit::Kind;
using tests::Allocations;

std::vector<Kind> kinds() {
  if (has_companion) return {Kind::host, Kind::companion};
  return {Kind::host};
}

MeasuredKernel kernel_of(std::int64_t columns, ElementType element, int time_tile = 1, int order = 2) {
  return {Problem{0, columns, 0.5, Boundary::dirichlet, order}, element, time_tile};
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

}  // namespace steelyard::wave2d::test_measured_kernel
