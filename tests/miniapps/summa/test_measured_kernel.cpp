#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "miniapps/summa/measured_kernel.hpp"
#include "tests/miniapps/allocations.hpp"
#include "tests/miniapps/gemm/measured_kernels.hpp"

namespace steelyard::test_measured_kernel {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using gemm::element_bytes;
using summa::MeasuredKernel;
using summa::Problem;
using tests::Allocations;
using tests::kinds;
using Kind = ProcessingUnit::Kind;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Blocks of so many rows and columns; how large the whole is does not matter.
Problem blocks_of(std::int64_t block) {
  Problem problem;
  problem.block = block;
  return problem;
}

}  // namespace

TEST_CASE("a block's update takes 2 b^3 operations, reads a block of A and of B, and keeps one of C") {
  for (const std::int64_t block : {1, 31, 32, 128, 1000}) {
    for (const ElementType element : {ElementType::float64, ElementType::float32}) {
      const double cap = block == 128 ? 1e9 : infinity;
      const KernelFacts facts = MeasuredKernel(blocks_of(block), element, cap).facts();
      const auto b = static_cast<double>(block);
      CHECK(facts.device_memory_bytes == cap);
      CHECK(facts.runs_out_of_core == gemm::has_device_memory(cap));
      CHECK(facts.flops_per_unit == 2.0 * b * b * b);
      CHECK(facts.bytes_per_unit == 2.0 * element_bytes(element) * b * b);
      CHECK(facts.memory_bytes_per_unit == element_bytes(element) * b * b);
      CHECK(facts.app == "summa");
      CHECK(facts.kernel == "gemm");
      CHECK(facts.element == element_name(element));
      CHECK_FALSE(facts.computation_unit.empty());
      CHECK(facts.parameters.size() == 1);
      CHECK(facts.parameters.at("block") == b);
      CHECK(facts.smallest == 1);
      CHECK(facts.largest >= 16);
    }
  }
}

TEST_CASE("a device's memory that is too small for any rectangle is refused with option and values, and no more") {
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const std::int64_t block : {1, 33, 128}) {
      const double least = gemm::least_memory_bytes(element_bytes(element), block);
      CAPTURE(block, least);
      CHECK_NOTHROW(MeasuredKernel(blocks_of(block), element, least).facts());
      for (const Kind kind : kinds()) {
        CHECK_NOTHROW(MeasuredKernel(blocks_of(block), element, least).allocate(kind, 100)->run());
      }
      for (const double cap : {0.0, least / 2.0, least - 1.0}) {
        const MeasuredKernel kernel(blocks_of(block), element, cap);
        CHECK_THROWS_MATCHES(kernel.facts(), InvalidArgument,
                             MessageMatches(ContainsSubstring("--device-memory") &&
                                            ContainsSubstring("blocks of " + std::to_string(block))));
        const std::int64_t more_than_fits = std::max<std::int64_t>(16, 10000 / (block * block));
        CHECK_THROWS_AS(kernel.allocate(Kind::companion, more_than_fits), InvalidArgument);
      }
    }
  }
}

TEST_CASE("an instance updates a nearly square rectangle of as many elements as its blocks have") {
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    // Small enough for no huge pages, which arrays have room for.
    for (const std::int64_t block : {1, 7, 32}) {
      for (const std::int64_t units : {1, 2, 3, 5, 17, 64, 99}) {
        const MeasuredKernel kernel(blocks_of(block), element, infinity);
        const auto b = static_cast<double>(block), area = static_cast<double>(units) * b * b;
        const double side = std::sqrt(area);
        CAPTURE(block, units, element_name(element));
        const Allocations operands("steelyard::core::host_array");
        const auto run = kernel.allocate(Kind::host, units);
        // C, and a column and a row of blocks of a square; its sides are whole numbers, and so are words of memory.
        const double expected = element_bytes(element) * (area + 2.0 * side * b);
        CHECK(std::abs(operands.bytes() - expected) <= element_bytes(element) * (0.5 * side + b + 1.0) + 24.0);
      }
    }
  }
}

TEST_CASE("in core a companion's memory holds C, a column and a row of blocks; out of core no more than the cap") {
  if (!has_companion) return;
  for (const std::int64_t block : {7, 32, 64}) {
    for (const std::int64_t units : {1, 5, 40}) {
      const auto b = static_cast<double>(block);
      const double side = std::sqrt(static_cast<double>(units)) * b + 33.0;
      const Allocations in_core("steelyard::gemm::buffers");
      const auto run = MeasuredKernel(blocks_of(block), ElementType::float64, 1e9).allocate(Kind::companion, units);
      CHECK(in_core.bytes() >= 8.0 * b * b * static_cast<double>(units));
      CHECK(in_core.bytes() <= 8.0 * (side * side + 2.0 * side * b) + 128.0);
    }
    const double cap = gemm::least_memory_bytes(8.0, block) * 1.5;
    const Allocations out_of_core("steelyard::gemm::buffers");
    const auto run = MeasuredKernel(blocks_of(block), ElementType::float64, cap).allocate(Kind::companion, 200);
    CHECK(out_of_core.bytes() > 0.0);
    CHECK(out_of_core.bytes() <= cap + 128.0);
  }
}

TEST_CASE("a run allocates nothing once Kokkos and the BLAS have what they need themselves") {
  for (const double cap : {infinity, 1e9, 1e5}) {
    const MeasuredKernel kernel(blocks_of(24), ElementType::float64, cap);
    for (const Kind kind : kinds()) {
      const std::unique_ptr<KernelRun> run = kernel.allocate(kind, 7);
      run->run();
      const Allocations allocations;
      for (int i = 0; i < 70; ++i) run->run();
      CHECK(allocations.bytes() == 0.0);
    }
  }
}

}  // namespace steelyard::test_measured_kernel
