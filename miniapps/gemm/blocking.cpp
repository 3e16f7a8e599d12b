#include "miniapps/gemm/blocking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"

namespace steelyard::gemm {
namespace {

constexpr std::int64_t multiple = 32;
constexpr std::int64_t out_of_core_buffers = 2;

double real(std::int64_t value) { return static_cast<double>(value); }

std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

/// The multiple of 32 that holds an extent; 32 for none.
std::int64_t padded(std::int64_t extent) { return std::max(multiple, quotient_up(extent, multiple) * multiple); }

/// The sizes, decreasing, of equal parts of an extent.
std::vector<std::int64_t> part_sizes(std::int64_t extent) {
  std::vector<std::int64_t> sizes;
  std::int64_t parts = 1;
  while (true) {
    sizes.push_back(padded(quotient_up(extent, parts)));
    if (sizes.back() == multiple) return sizes;
    parts = quotient_up(extent, sizes.back() - multiple);
  }
}

/// A, B and C in core, as many elements as their buffers have.
double in_core_elements(std::int64_t m, std::int64_t n, std::int64_t k) {
  return real(padded(m)) * (real(padded(k)) + real(padded(n))) + real(padded(k)) * real(padded(n));
}

/// The tallest blocks of this width and depth whose five buffers fit; 0 for none.
std::int64_t tallest(std::int64_t m, std::int64_t width, std::int64_t depth, double elements) {
  const double left = elements - real(depth) * real(width);
  const double rows = left / (real(out_of_core_buffers) * (real(depth) + real(width)));
  if (rows < real(multiple)) return 0;
  const std::int64_t most = static_cast<std::int64_t>(std::min(rows, real(padded(m)))) / multiple * multiple;
  return padded(quotient_up(m, quotient_up(std::max<std::int64_t>(m, 1), most)));
}

/// The plan out of core that moves the fewest elements among those with blocks of `least_height` rows; of equal ones
/// that with the tallest blocks.
std::optional<Blocking> out_of_core(const BlockGrid& whole, bool reads_c, double elements, std::int64_t least_height) {
  std::optional<Blocking> best;
  for (const std::int64_t depth : part_sizes(whole.k)) {
    for (const std::int64_t width : part_sizes(whole.n)) {
      const std::int64_t height = tallest(whole.m, width, depth, elements);
      if (height < least_height) continue;
      const Blocking plan{
          {whole.m, whole.n, whole.k, height, width, depth}, out_of_core_buffers, out_of_core_buffers, false};
      const double moved = plan.moved_elements(reads_c);
      if (!best || moved < best->moved_elements(reads_c) ||
          (moved == best->moved_elements(reads_c) && height > best->grid.height)) {
        best = plan;
      }
    }
  }
  return best;
}

}  // namespace

double Blocking::buffer_elements() const {
  if (in_core) return in_core_elements(grid.m, grid.n, grid.k);
  const double height = real(grid.height);
  return height * (real(a_buffers) * real(grid.depth) + real(c_buffers) * real(grid.width)) +
         real(grid.depth) * real(grid.width);
}

double Blocking::moved_elements(bool reads_c) const {
  const double a = real(grid.m) * real(grid.k);
  const double b = real(grid.k) * real(grid.n);
  const double c = real(grid.m) * real(grid.n);
  if (in_core) return a + b + c * (reads_c ? 2.0 : 1.0);
  return a * real(grid.columns()) + b + c * (2.0 * real(grid.panels()) - (reads_c ? 0.0 : 1.0));
}

Blocking plan_blocking(std::int64_t m, std::int64_t n, std::int64_t k, bool reads_c, const BlockingGoal& goal) {
  const double elements = std::floor(goal.memory_bytes / goal.element_bytes);
  if (in_core_elements(m, n, k) <= elements) {
    const std::int64_t height =
        std::min(padded(m), std::max(padded(goal.least_height), padded(quotient_up(m, goal.in_core_blocks))));
    const std::int64_t blocks = std::max<std::int64_t>(1, quotient_up(m, height));
    return {{m, n, k, height, padded(n), padded(k)}, blocks, blocks, true};
  }
  const BlockGrid whole{m, n, k};
  std::optional<Blocking> plan = out_of_core(whole, reads_c, elements, std::min(padded(goal.least_height), padded(m)));
  if (!plan) plan = out_of_core(whole, reads_c, elements, multiple);
  if (!plan) {
    throw InvalidArgument(fmt::format("{} of device memory (expected at least {}: five blocks of {} x {})",
                                      format_bytes(goal.memory_bytes),
                                      format_bytes(least_memory_bytes(goal.element_bytes)), multiple, multiple));
  }
  return *plan;
}

double least_memory_bytes(double element_bytes) { return 5.0 * real(multiple * multiple) * element_bytes; }

std::int64_t in_core_rows(std::int64_t n, std::int64_t k, const BlockingGoal& goal) {
  const double elements = std::floor(goal.memory_bytes / goal.element_bytes);
  const double rows = (elements - real(padded(k)) * real(padded(n))) / (real(padded(k)) + real(padded(n)));
  if (rows < real(multiple)) return 0;
  // Far beyond any matrix.
  constexpr double most = 9.0e15;
  return static_cast<std::int64_t>(std::min(rows, most)) / multiple * multiple;
}

}  // namespace steelyard::gemm
