#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/memory/huge_pages.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/core/synthetic_machine.hpp"
#include "tests/miniapps/allocations.hpp"
#include "tests/miniapps/gemm/measured_kernels.hpp"

namespace steelyard::test_measured_kernel {

using gemm::element_bytes;
using gemm::MeasuredKernel;
using gemm::Problem;
using tests::Allocations;
using tests::kinds;
using Kind = ProcessingUnit::Kind;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Problem problem_of(std::int64_t n, std::int64_t k, std::int64_t block = 32, double beta = 0.0) {
  Problem problem{0, n, k};
  problem.block = block;
  problem.beta = beta;
  return problem;
}

/// Limits of a companion on a machine with 64 GiB; a device has its own.
UnitLimits companion_limits(const KernelFacts& facts) {
  const tests::SyntheticMachine machine("numa:1(memory=68719476736) core:4 pu:1");
  RankUnits units;
  units.companion = ProcessingUnit{Kind::companion, "Companion", {1}, companion_is_device ? 0 : -1, 1.0};
  return unit_limits(*machine, units, Kind::companion, 1, facts);
}

/// What the operands, three arrays, may have more where they are large enough for huge pages: two of these each.
double room_for_huge_pages(double bytes) {
  return bytes >= static_cast<double>(huge_page_bytes) / 2.0 ? 3.0 * 2.0 * static_cast<double>(huge_page_bytes) : 0.0;
}

}  // namespace

TEST_CASE("a block row takes 2 x rows x n x k operations, and moves its rows of A and C") {
  const std::int64_t n = GENERATE(1, 64, 1000), k = GENERATE(1, 33, 2048), block = GENERATE(1, 32, 100);
  const double beta = GENERATE(0.0, 2.0);
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  const KernelFacts facts = MeasuredKernel(problem_of(n, k, block, beta), element, infinity).facts();
  const auto columns = static_cast<double>(n), depth = static_cast<double>(k), rows = static_cast<double>(block);
  CHECK(facts.flops_per_unit == 2.0 * rows * columns * depth);
  // C goes out; it comes in where it is read.
  CHECK(facts.bytes_per_unit == element_bytes(element) * rows * (depth + (beta == 0.0 ? 1.0 : 2.0) * columns));
  CHECK(facts.app == "gemm");
  CHECK(facts.element == element_name(element));
  CHECK_FALSE(facts.computation_unit.empty());
  const std::map<std::string, double> parameters{
      {"n", columns}, {"k", depth}, {"block", rows}, {"reads_c", beta == 0.0 ? 0.0 : 1.0}};
  CHECK(facts.parameters == parameters);
  CHECK(facts.smallest >= 1);
  CHECK(facts.largest > facts.smallest);
}

TEST_CASE("what fits in core, as the facts have it, is what the blocks are planned in core for") {
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const std::int64_t n : {1, 32, 100, 1024}) {
      for (const std::int64_t k : {1, 33, 640}) {
        for (const double cap : {1e5, 1e6, 12345678.0, 1e8, 1e9}) {
          const auto in_core = [&](std::int64_t rows) {
            try {
              return gemm::plan_blocking({rows, n, k, 0, 1.0, 0.0}, gemm::blocking_goal(element_bytes(element), cap))
                  .in_core;
            } catch (const InvalidArgument&) {
              return false;
            }
          };
          for (const std::int64_t block : {32, 64, 320, 1, 7, 50}) {
            const MeasuredKernel kernel(problem_of(n, k, block), element, cap);
            const auto units = static_cast<std::int64_t>(companion_limits(kernel.facts()).in_core_units);
            CAPTURE(n, k, cap, block, units, element_name(element));
            // Buffers have multiples of 32 rows, so with any other block some of the last rows do not fit.
            const std::int64_t rows = block % 32 == 0 ? units * block : units * block - 31;
            if (rows > 0) CHECK(in_core(rows));
            CHECK_FALSE(in_core((units + 1) * block));
          }
        }
      }
    }
  }
}

TEST_CASE("an instance takes no more of its unit's memory than the facts and the cap say, and not much less") {
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  const std::int64_t n = GENERATE(3, 64, 300), k = GENERATE(1, 96, 250), units = GENERATE(1, 2, 30);
  const MeasuredKernel kernel(problem_of(n, k), element, 1e9);
  const KernelFacts facts = kernel.facts();
  const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(units);
  CAPTURE(n, k, units, element_name(element));
  {
    const Allocations operands("steelyard::core::host_array");
    const auto run = kernel.allocate(Kind::host, units);
    CHECK(operands.bytes() > 0.0);
    CHECK(operands.bytes() <= told + room_for_huge_pages(operands.bytes()));
  }
  const Allocations buffers("steelyard::gemm::buffers");
  const auto run = kernel.allocate(Kind::companion, units);
  CHECK(buffers.bytes() <= told + 128.0);
  CHECK(buffers.bytes() >= told);
  // Out of core.
  const double cap = 0.7 * told;
  if (cap < 5e5) return;
  const Allocations capped("steelyard::gemm::buffers");
  const auto capped_run = MeasuredKernel(problem_of(n, k), element, cap).allocate(Kind::companion, units);
  CHECK(capped.bytes() <= cap);
  CHECK(capped.bytes() >= 0.4 * cap);
}

TEST_CASE("a run allocates nothing once Kokkos and the BLAS have what they need themselves") {
  for (const double cap : {infinity, 1e9, 1e5}) {
    const MeasuredKernel kernel(problem_of(80, 70), ElementType::float64, cap);
    for (const Kind kind : kinds()) {
      const std::unique_ptr<KernelRun> run = kernel.allocate(kind, 3);
      run->run();
      const Allocations allocations;
      for (int i = 0; i < 3; ++i) run->run();
      CHECK(allocations.bytes() == 0.0);
    }
  }
}

TEST_CASE(
    "a companion runs out of core in a memory of its own; its limit is then beyond the one in core, whatever cap") {
  double last_units = 0.0;
  const auto facts_of = [](double cap) {
    return MeasuredKernel(problem_of(500, 500), ElementType::float64, cap).facts();
  };
  CHECK(facts_of(infinity).runs_out_of_core == gemm::has_device_memory(infinity));
  const double max_units = companion_limits(facts_of(1e9)).max_units;
  for (const double cap : {1e5, 1e6, 1e7, 1e8}) {
    CHECK(facts_of(cap).device_memory_bytes == cap);
    CHECK(facts_of(cap).runs_out_of_core);
    const UnitLimits limits = companion_limits(facts_of(cap));
    CHECK(limits.in_core_units >= last_units);
    CHECK(limits.max_units > limits.in_core_units);
    CHECK(limits.max_units == max_units);
    last_units = limits.in_core_units;
  }
}

}  // namespace steelyard::test_measured_kernel
