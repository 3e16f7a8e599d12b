#include "miniapps/gemm/out_of_core/blocking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"

namespace steelyard::gemm {
namespace {

constexpr std::int64_t multiple = 32;
constexpr std::int64_t out_of_core_buffers = 2;

double real(std::int64_t value) { return static_cast<double>(value); }

std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

/// The sizes, decreasing, of equal parts of an extent, as even as they can be with no size less than `least`.
std::vector<std::int64_t> part_sizes(std::int64_t extent, std::int64_t least) {
  std::vector<std::int64_t> sizes;
  std::int64_t parts = 1;
  while (true) {
    sizes.push_back(std::max(least, padded_extent(quotient_up(extent, parts))));
    if (sizes.back() == least) return sizes;
    parts = quotient_up(extent, sizes.back() - multiple);
  }
}

/// All of C and one panel of A and B in buffers.
Blocking in_core(const BlockGrid& whole, std::int64_t depth, const BlockingGoal& goal) {
  const std::int64_t height =
      std::min(padded_extent(whole.m),
               std::max(padded_extent(goal.least_extent), padded_extent(quotient_up(whole.m, goal.in_core_blocks))));
  const std::int64_t blocks = std::max<std::int64_t>(1, quotient_up(whole.m, height));
  return {{whole.m, whole.n, whole.k, height, padded_extent(whole.n), depth}, blocks, blocks, true};
}

/// Rows of the tallest blocks of this width and depth whose five buffers fit, as even as they can be without having
/// fewer than `least`; 0 where these do not fit.
std::int64_t tallest(std::int64_t m, std::int64_t width, std::int64_t depth, double elements, std::int64_t least) {
  const double left = elements - real(depth) * real(width);
  const double rows =
      std::min(left / (real(out_of_core_buffers) * (real(depth) + real(width))), real(padded_extent(m)));
  const std::int64_t most = rows < real(multiple) ? 0 : static_cast<std::int64_t>(rows) / multiple * multiple;
  if (most < least) return 0;
  return std::max(least, padded_extent(quotient_up(m, quotient_up(std::max<std::int64_t>(m, 1), most))));
}

/// Rows of A's blocks that stay when the order turns round at the last row of blocks, or at the first one.
double rows_kept(const BlockGrid& grid, bool at_last) {
  if (grid.rows() <= out_of_core_buffers) return real(grid.m);
  const std::int64_t edge = at_last ? grid.m - (grid.rows() - 1) * grid.height : grid.height;
  return real(edge + grid.height);
}

/// Elements of the two blocks of C that a panel leaves to the next one: at the end of the order, or at its start.
double elements_kept(const BlockGrid& grid, bool at_end) {
  if (grid.rows() * grid.columns() <= out_of_core_buffers) return real(grid.m) * real(grid.n);
  const std::int64_t edge = at_end ? grid.n - (grid.columns() - 1) * grid.width : std::min(grid.n, grid.width);
  if (grid.rows() == 1) return real(grid.m) * real(edge + grid.width);
  return rows_kept(grid, at_end && grid.columns() % 2 == 1) * real(edge);
}

/// The plan out of core that moves the fewest elements among those whose blocks of C have `least_extent` rows and
/// columns where C has them; of equal ones that with the tallest blocks.
/// @param depths of a panel that may be tried
std::optional<Blocking> out_of_core(const BlockGrid& whole, const std::vector<std::int64_t>& depths, bool reads_c,
                                    double elements, std::int64_t least_extent) {
  const std::int64_t least_height = std::min(padded_extent(least_extent), padded_extent(whole.m));
  const std::int64_t least_width = std::min(padded_extent(least_extent), padded_extent(whole.n));
  std::optional<Blocking> best;
  for (const std::int64_t depth : depths) {
    for (const std::int64_t width : part_sizes(whole.n, least_width)) {
      const std::int64_t height = tallest(whole.m, width, depth, elements, least_height);
      if (height == 0) continue;
      const BlockGrid grid{whole.m, whole.n, whole.k, height, width, depth};
      const Blocking plan{grid, out_of_core_buffers, out_of_core_buffers, false};
      const double more = best ? plan.moved_elements(reads_c) - best->moved_elements(reads_c) : -1.0;
      if (more < 0.0 || (more == 0.0 && height > best->grid.height)) best = plan;
    }
  }
  return best;
}

/// @param depths of a panel that may be tried; in core it is the first
/// @param least_bytes below which large matrices have no plan @param what_for the use of these bytes, in words
Blocking plan(const BlockGrid& whole, const std::vector<std::int64_t>& depths, bool reads_c, const BlockingGoal& goal,
              double least_bytes, const std::string& what_for) {
  const double elements = std::floor(goal.memory_bytes / goal.element_bytes);
  const Blocking at_once = in_core(whole, depths.front(), goal);
  if (at_once.buffer_elements() <= elements) return at_once;
  std::optional<Blocking> blocking = out_of_core(whole, depths, reads_c, elements, goal.least_extent);
  if (!blocking) blocking = out_of_core(whole, depths, reads_c, elements, multiple);
  if (blocking) return *blocking;
  throw InvalidArgument(fmt::format("{} of device memory (expected at least {}: {})", format_bytes(goal.memory_bytes),
                                    format_bytes(least_bytes), what_for));
}

}  // namespace

std::int64_t Blocking::buffer_rows(std::int64_t i) const {
  return in_core ? std::min(grid.height, padded_extent(grid.m) - i * grid.height) : grid.height;
}

double Blocking::buffer_elements() const {
  double elements = real(grid.depth) * real(grid.width);
  for (std::int64_t i = 0; i < a_buffers; ++i) elements += real(buffer_rows(i)) * real(grid.depth);
  for (std::int64_t i = 0; i < c_buffers; ++i) elements += real(buffer_rows(i)) * real(grid.width);
  return elements;
}

double Blocking::moved_elements(bool reads_c) const {
  const double a = real(grid.m) * real(grid.k);
  const double b = real(grid.k) * real(grid.n);
  const double c = real(grid.m) * real(grid.n);
  const double once = a + b + c * (reads_c ? 2.0 : 1.0);
  if (c == 0.0) return 0.0;
  if (in_core) return once;
  // A again for every further column of blocks, C out and in again for every further panel, except for the blocks that
  // stay.
  const auto turns = [](std::int64_t count) { return std::pair(real((count + 1) / 2), real(count / 2)); };
  const auto [at_last, at_first] = turns(grid.columns() - 1);
  const double a_again = real(grid.k) * (at_last * (real(grid.m) - rows_kept(grid, true)) +
                                         at_first * (real(grid.m) - rows_kept(grid, false)));
  const auto [at_end, at_start] = turns(grid.panels() - 1);
  const double c_again = 2.0 * (at_end * (c - elements_kept(grid, true)) + at_start * (c - elements_kept(grid, false)));
  return once + a_again + c_again;
}

Blocking plan_blocking(std::int64_t m, std::int64_t n, std::int64_t k, bool reads_c, const BlockingGoal& goal) {
  return plan({m, n, k}, part_sizes(k, multiple), reads_c, goal, least_memory_bytes(goal.element_bytes),
              fmt::format("five blocks of {0} x {0}", multiple));
}

Blocking plan_panel_blocking(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t depth,
                             const BlockingGoal& goal) {
  return plan({m, n, k}, {depth}, true, goal, least_panel_memory_bytes(goal.element_bytes, depth),
              fmt::format("five buffers for panels {} deep", depth));
}

double least_panel_memory_bytes(double element_bytes, std::int64_t depth) {
  return element_bytes * real(multiple) * (3.0 * real(depth) + 2.0 * real(multiple));
}

double least_memory_bytes(double element_bytes) { return 5.0 * real(multiple * multiple) * element_bytes; }

std::int64_t padded_extent(std::int64_t extent) { return std::max(multiple, quotient_up(extent, multiple) * multiple); }

std::vector<BlockStep> make_block_steps(const Blocking& blocking, bool reads_c) {
  const std::int64_t rows = blocking.grid.rows(), blocks = rows * blocking.grid.columns();
  const std::int64_t panels = blocking.grid.panels();
  std::vector<BlockStep> steps;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t place = panel % 2 == 0 ? i : blocks - 1 - i;
      const std::int64_t column = place / rows, in_column = i % rows;
      BlockStep step;
      step.row = column % 2 == 0 ? place % rows : rows - 1 - place % rows;
      step.column = column;
      step.panel = panel;
      // In core the last row of blocks has a buffer that is too small for the others.
      step.a_buffer = blocking.in_core ? step.row : (step.row + panel) % blocking.a_buffers;
      step.c_buffer = place % blocking.c_buffers;
      step.first = panel == 0;
      // The order turns round at the end of a column, and of a panel: the last blocks before that are still there.
      step.load_a = i < rows || in_column >= blocking.a_buffers;
      step.load_b = in_column == 0;
      step.load_c = step.first ? reads_c : i >= blocking.c_buffers;
      step.store_c = panel + 1 == panels || blocks - 1 - i >= blocking.c_buffers;
      steps.push_back(step);
    }
  }
  return steps;
}

}  // namespace steelyard::gemm
