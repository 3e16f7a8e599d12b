#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "miniapps/fft2d/measured_kernel.hpp"
#include "tests/miniapps/allocations.hpp"

namespace steelyard::fft2d::test_measured_kernel {
namespace {

using Kind = ProcessingUnit::Kind;
using steelyard::tests::Allocations;

std::vector<Kind> kinds() {
  if (has_companion) return {Kind::host, Kind::companion};
  return {Kind::host};
}

TEST_CASE("A row is read once and its spectrum stored once; real rows are half of it") {
  for (const std::int64_t n : {1, 2, 64, 1000, 4099}) {
    const auto points = static_cast<double>(n);
    const KernelFacts whole = MeasuredKernel(n, false, ElementType::float64, {}).facts();
    CHECK(whole.app == "fft2d");
    CHECK(whole.kernel == "row_fft");
    CHECK(whole.element == "double");
    CHECK(whole.bytes_per_unit == 32.0 * points);
    CHECK(std::abs(whole.flops_per_unit - 5.0 * points * std::log2(points)) <= 1e-9 * points);
    CHECK(whole.parameters.at("columns") == points);
    CHECK(whole.parameters.at("real") == 0.0);
    const KernelFacts half = MeasuredKernel(n, true, ElementType::float32, {"portable"}).facts();
    CHECK(half.kernel == "row_fft_portable");
    CHECK(half.element == "float");
    CHECK(half.bytes_per_unit == 4.0 * points + 8.0 * std::floor(points / 2.0 + 1.0));
    CHECK(half.flops_per_unit == whole.flops_per_unit / 2.0);
    CHECK(half.parameters.at("real") == 1.0);
  }
}

TEST_CASE("Every unit runs the kernel in about the memory that the facts announce") {
  const Kind kind = GENERATE(from_range(kinds()));
  const bool real = GENERATE(false, true);
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  const MeasuredKernel kernel(300, real, element, {"", Planner::estimate});
  const Allocations allocations("steelyard::fft2d::rows");
  const auto run = kernel.allocate(kind, 1000);
  run->run();
  run->run();
  const KernelFacts facts = kernel.facts();
  CHECK(allocations.bytes() <= facts.memory_bytes_fixed + 1000.0 * facts.memory_bytes_per_unit);
  CHECK(allocations.bytes() >= 1000.0 * facts.bytes_per_unit);
}

TEST_CASE("A small instance has matrices for more than a core's own cache, and goes around them as often as asked") {
  const Kind kind = GENERATE(from_range(kinds()));
  const std::int64_t rows = GENERATE(16, 1000);
  const Allocations allocations("steelyard::fft2d::rows");
  const auto run = MeasuredKernel(64, false, ElementType::float64, {"", Planner::estimate}).allocate(kind, rows);
  CHECK(allocations.bytes() >= 8.0 * 1024.0 * 1024.0);
  // Around the ring and on: sanitizers see it where that leads out of memory.
  for (std::int64_t i = 0; i < 32000 / rows; ++i) run->run();
}

}  // namespace
}  // namespace steelyard::fft2d::test_measured_kernel
