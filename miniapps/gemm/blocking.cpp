#include "miniapps/gemm/blocking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"

namespace steelyard::gemm {
namespace {

constexpr std::int64_t multiple = 32;
constexpr std::int64_t out_of_core_buffers = 2;

double real(std::int64_t value) { return static_cast<double>(value); }

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

/// All of C and one panel of A and B in buffers. @param whole a plan's matrices, without block sizes, as below
Blocking in_core(Blocking whole, std::int64_t depth, const BlockingGoal& goal) {
  const std::int64_t most_blocks = quotient_up(whole.m, goal.in_core_blocks);
  const std::int64_t least = std::max(padded_extent(goal.least_extent), padded_extent(most_blocks));
  whole.height = std::min(padded_extent(whole.m), least);
  whole.width = padded_extent(whole.n);
  whole.depth = depth;
  whole.buffers = std::max<std::int64_t>(1, whole.rows());
  return whole;
}

/// Rows of the tallest blocks of this width and depth whose five buffers fit, no more than C's; 0 where none fit.
std::int64_t tallest(std::int64_t m, std::int64_t width, std::int64_t depth, double elements) {
  const double left = elements - real(depth) * real(width);
  const double rows = left / (real(out_of_core_buffers) * (real(depth) + real(width)));
  if (rows < real(multiple)) return 0;
  return static_cast<std::int64_t>(std::min(rows, real(padded_extent(m)))) / multiple * multiple;
}

/// Rows of A's blocks that stay when the order turns round at the last row of blocks, or at the first one.
double rows_kept(const Blocking& plan, bool at_last) {
  if (plan.rows() <= out_of_core_buffers) return real(plan.m);
  return real((at_last ? plan.m - (plan.rows() - 1) * plan.height : plan.height) + plan.height);
}

/// Elements of the two blocks of C that a panel leaves to the next one: at the end of the order, or at its start.
double elements_kept(const Blocking& plan, bool at_end) {
  if (plan.rows() * plan.columns() <= out_of_core_buffers) return real(plan.m) * real(plan.n);
  const std::int64_t edge = at_end ? plan.n - (plan.columns() - 1) * plan.width : std::min(plan.n, plan.width);
  if (plan.rows() == 1) return real(plan.m) * real(edge + plan.width);
  return rows_kept(plan, at_end && plan.columns() % 2 == 1) * real(edge);
}

/// Elements that take time on the link where all other time is hidden.
double cost_of(const Blocking& plan, bool overlaps) {
  return plan.moved_elements() + (overlaps ? plan.exposed_elements() : 0.0);
}

/// The plan out of core of the least cost among those whose blocks of C have `least_extent` rows and columns where C
/// has them; of equal ones that with the most even blocks, then the tallest. @param depths of a panel that may be tried
std::optional<Blocking> out_of_core(const Blocking& whole, const std::vector<std::int64_t>& depths, double elements,
                                    std::int64_t least_extent, bool overlaps) {
  const std::int64_t least_height = std::min(padded_extent(least_extent), padded_extent(whole.m));
  const std::int64_t least_width = std::min(padded_extent(least_extent), padded_extent(whole.n));
  std::vector<std::int64_t> widths = part_sizes(whole.n, least_width);
  std::optional<Blocking> best;
  const auto try_widths = [&](std::int64_t depth, bool evenly) {
    for (const std::int64_t width : widths) {
      const std::int64_t most = tallest(whole.m, width, depth, elements);
      if (most < least_height) continue;
      const std::int64_t rows = quotient_up(std::max<std::int64_t>(whole.m, 1), most);
      // Blocks of fewer rows leave less exposed, if they do not move more.
      for (const std::int64_t times : {1, 2, 4, 8}) {
        const std::int64_t even_height = std::max(least_height, padded_extent(quotient_up(whole.m, times * rows)));
        const std::int64_t height = evenly ? even_height : most;
        const Blocking plan{whole.m, whole.n, whole.k, height, width, depth, whole.reads_c, false, out_of_core_buffers};
        const double more = best ? cost_of(plan, overlaps) - cost_of(*best, overlaps) : -1.0;
        if (more < 0.0 || (evenly && more == 0.0 && height > best->height)) best = plan;
        if (!overlaps || !evenly || height == least_height) break;
      }
    }
  };
  for (const std::int64_t depth : depths) try_widths(depth, true);
  // Blocks as large as they can be, beside a small last one, may leave more in the buffers when the order turns round:
  // the tallest, and the widest of each number of columns, which are narrower than even ones of fewer columns.
  for (std::size_t i = widths.size(); i-- > 0;) {
    if (widths[i] - multiple >= least_width) widths.push_back(widths[i] - multiple);
  }
  for (const std::int64_t depth : depths) try_widths(depth, false);
  return best;
}

}  // namespace

std::int64_t Blocking::buffer_rows(std::int64_t i) const {
  return in_core ? std::min(height, padded_extent(m) - i * height) : height;
}

double Blocking::buffer_elements() const {
  double elements = real(depth) * real(width);
  for (std::int64_t i = 0; i < buffers; ++i) elements += real(buffer_rows(i)) * (real(depth) + real(width));
  return elements;
}

double Blocking::moved_elements() const {
  const double c = real(m) * real(n);
  const double once = real(m) * real(k) + real(k) * real(n) + c * (reads_c ? 2.0 : 1.0);
  if (c == 0.0) return 0.0;
  if (in_core) return once;
  // A again for every further column of blocks, C out and in again for every further panel, except for the blocks that
  // stay.
  const auto turns = [](std::int64_t count) { return std::pair(real((count + 1) / 2), real(count / 2)); };
  const auto [at_last, at_first] = turns(columns() - 1);
  const double a_again =
      real(k) * (at_last * (real(m) - rows_kept(*this, true)) + at_first * (real(m) - rows_kept(*this, false)));
  const auto [at_end, at_start] = turns(panels() - 1);
  const double c_again =
      2.0 * (at_end * (c - elements_kept(*this, true)) + at_start * (c - elements_kept(*this, false)));
  return once + a_again + c_again;
}

double Blocking::exposed_elements() const {
  const double a = real(std::min(height, m)) * real(std::min(depth, k));
  const double b = real(std::min(depth, k)) * real(std::min(width, n));
  return a + b + real(std::min(height, m)) * real(std::min(width, n)) * (reads_c ? 2.0 : 1.0);
}

Blocking plan_blocking(const PanelProblem& problem, const BlockingGoal& goal) {
  Blocking whole{problem.rows, problem.columns, problem.k};
  // As in every BLAS, A and B are not read where alpha is 0.
  if (problem.alpha == 0.0) whole.k = 0;
  whole.reads_c = problem.beta != 0.0;
  const std::vector<std::int64_t> depths =
      problem.depth > 0 ? std::vector{problem.depth} : part_sizes(whole.k, multiple);
  const double elements = std::floor(goal.memory_bytes / goal.element_bytes);
  const Blocking at_once = in_core(whole, depths.front(), goal);
  if (at_once.buffer_elements() <= elements) return at_once;
  for (const std::int64_t least_extent : {goal.least_extent, multiple}) {
    // Blocks that memory makes small are not made smaller to expose less.
    const bool overlaps = goal.in_core_blocks > 1 && least_extent == goal.least_extent;
    if (const auto found = out_of_core(whole, depths, elements, least_extent, overlaps)) return *found;
  }
  throw InvalidArgument(fmt::format(
      "{} of device memory (expected at least {}: five buffers for panels of {})", format_bytes(goal.memory_bytes),
      format_bytes(least_memory_bytes(goal.element_bytes, problem.depth)), depths.back()));
}

double least_memory_bytes(double element_bytes, std::int64_t depth) {
  return element_bytes * real(multiple) * (3.0 * real(depth > 0 ? depth : multiple) + 2.0 * real(multiple));
}

std::int64_t padded_extent(std::int64_t extent) { return std::max(multiple, quotient_up(extent, multiple) * multiple); }

std::vector<BlockStep> make_block_steps(const Blocking& blocking) {
  const std::int64_t rows = blocking.rows(), blocks = rows * blocking.columns(), panels = blocking.panels();
  std::vector<BlockStep> steps;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t place = panel % 2 == 0 ? i : blocks - 1 - i;
      const std::int64_t column = place / rows, in_column = i % rows;
      const std::int64_t row = column % 2 == 0 ? place % rows : rows - 1 - place % rows;
      BlockStep step;
      step.c = {row * blocking.height, column * blocking.width, blocking.height, blocking.width};
      step.c.rows = std::min(blocking.height, blocking.m - step.c.row);
      step.c.columns = std::min(blocking.width, blocking.n - step.c.column);
      step.depth = std::min(blocking.depth, blocking.k - panel * blocking.depth);
      // In core the last row of blocks has a buffer that is too small for the others.
      step.a_buffer = blocking.in_core ? row : (row + panel) % blocking.buffers;
      step.c_buffer = place % blocking.buffers;
      // The order turns round at the end of a column, and of a panel: the last blocks before that are still there.
      step.load_a = i < rows || in_column >= blocking.buffers;
      step.load_b = in_column == 0;
      step.load_c = panel == 0 ? blocking.reads_c : i >= blocking.buffers;
      step.scales_c = panel == 0;
      step.store_c = panel + 1 == panels || blocks - 1 - i >= blocking.buffers;
      steps.push_back(step);
    }
  }
  return steps;
}

}  // namespace steelyard::gemm
