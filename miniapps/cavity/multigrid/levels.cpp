#include "miniapps/cavity/multigrid/levels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steelyard::cavity {
namespace {

/// Cells of the other axis may be so much narrower before this one is not coarsened.
constexpr double most_ratio = 1.5;
/// Cells of the coarsest level at most, which is solved directly.
constexpr std::int64_t most_bottom_cells = 64;

std::size_t index(std::int64_t cell) { return static_cast<std::size_t>(cell); }

std::vector<double> merged_sums(const std::vector<double>& values, const AxisTransfer& axis) {
  std::vector<double> sums(axis.children.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[index(axis.parents[i].parent)] += values[i];
  return sums;
}

std::vector<double> centres(const std::vector<double>& widths) {
  std::vector<double> all;
  double begin = 0.0;
  for (const double width : widths) {
    all.push_back(begin + width / 2.0);
    begin += width;
  }
  return all;
}

std::vector<double> faces_between(const std::vector<double>& widths) {
  std::vector<double> faces(widths.size() + 1, 0.0);
  for (std::size_t i = 1; i < widths.size(); ++i) faces[i] = 2.0 / (widths[i - 1] + widths[i]);
  return faces;
}

AxisTransfer transfer(const std::vector<double>& widths, bool merge) {
  const auto cells = static_cast<std::int64_t>(widths.size());
  const std::int64_t pairs = cells % 4 == 1 ? std::max<std::int64_t>(1, cells / 2) : (cells + 1) / 2;
  AxisTransfer axis;
  axis.parents.resize(widths.size());
  axis.children.resize(index(merge ? pairs : cells));
  for (std::int64_t i = cells; i-- > 0;) {
    const std::int64_t parent = merge ? std::min(i / 2, pairs - 1) : i;
    axis.parents[index(i)].parent = parent;
    axis.children[index(parent)].first = i;
  }
  const std::vector<double> fine_centres = centres(widths), merged_centres = centres(merged_sums(widths, axis));
  for (std::int64_t i = 0; i < cells; ++i) {
    CellParents& way = axis.parents[index(i)];
    CellChildren& own = axis.children[index(way.parent)];
    const bool is_first = i == own.first;
    const bool is_last = i + 1 == cells || axis.parents[index(i + 1)].parent != way.parent;
    way.other = way.parent;
    if (is_first && !is_last && way.parent > 0) way.other = way.parent - 1;
    if (is_last && !is_first && index(way.parent + 1) < axis.children.size()) way.other = way.parent + 1;
    const double from_parent = fine_centres[index(i)] - merged_centres[index(way.parent)];
    if (way.other != way.parent) {
      CellChildren& neighbour = axis.children[index(way.other)];
      way.other_weight = from_parent / (merged_centres[index(way.other)] - merged_centres[index(way.parent)]);
      neighbour.weights[i + 1 - neighbour.first] += way.other_weight;
    }
    way.parent_weight = 1.0 - way.other_weight;
    own.weights[i + 1 - own.first] += way.parent_weight;
  }
  return axis;
}

/// @param faces 1 / distance of the centres of equal cells, but for walls
LevelAxis finest_axis(const std::vector<double>& faces, const std::vector<double>& weights) {
  return {faces, weights, std::vector<double>(weights.size(), faces.size() > 2 ? 1.0 / faces[1] : 1.0), {}};
}

LevelAxis coarser_axis(LevelAxis& fine, bool merge) {
  fine.transfer = transfer(fine.widths, merge);
  LevelAxis coarse;
  coarse.widths = merged_sums(fine.widths, fine.transfer);
  coarse.weights = merged_sums(fine.weights, fine.transfer);
  coarse.faces = faces_between(coarse.widths);
  return coarse;
}

MultigridLevel coarser(MultigridLevel& fine) {
  const double width = fine.column_axis.widths.front(), height = fine.row_axis.widths.front();
  const bool merge_columns = fine.columns() > 1 && (fine.rows() == 1 || width <= most_ratio * height);
  const bool merge_rows = fine.rows() > 1 && (fine.columns() == 1 || height <= most_ratio * width);
  return {coarser_axis(fine.row_axis, merge_rows), coarser_axis(fine.column_axis, merge_columns)};
}

/// See MultigridLevels::bottom_inverse(). By Cholesky's factor C, of which the rows of C^-1 are computed along with the
/// columns: the inverse is C^-T C^-1.
std::vector<double> inverse_of(const MultigridLevel& level) {
  const auto columns = index(level.columns()), n = index(level.cells());
  double mean = 0.0;
  for (std::size_t k = 0; k < n; ++k) mean += level.diagonal(k / columns, k % columns) / static_cast<double>(n);
  if (mean == 0.0) mean = 1.0;
  std::vector<double> factor(n * n, mean / static_cast<double>(n)), lower(n * n, 0.0), inverse(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t j = k / columns, i = k % columns;
    factor[k * n + k] += level.diagonal(j, i);
    if (i > 0) factor[k * n + k - 1] -= level.row_axis.weights[j] * level.column_axis.faces[i];
    if (j > 0) factor[k * n + k - columns] -= level.column_axis.weights[i] * level.row_axis.faces[j];
  }
  for (std::size_t m = 0; m < n; ++m) {
    const double pivot = std::sqrt(factor[m * n + m]);
    for (std::size_t k = m + 1; k < n; ++k) factor[k * n + m] /= pivot;
    lower[m * n + m] = 1.0;
    for (std::size_t l = 0; l <= m; ++l) lower[m * n + l] /= pivot;
    for (std::size_t k = m + 1; k < n; ++k) {
      for (std::size_t l = m + 1; l <= k; ++l) factor[k * n + l] -= factor[k * n + m] * factor[l * n + m];
      for (std::size_t l = 0; l <= m; ++l) lower[k * n + l] -= factor[k * n + m] * lower[m * n + l];
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) inverse[k * n + l] += lower[m * n + k] * lower[m * n + l];
    }
  }
  return inverse;
}

/// A slot's merged rows: those whose first row is its own.
RowRange merged_rows(RowRange rows, const std::vector<CellChildren>& children) {
  const auto merged = [&](std::int64_t row) {
    return std::ranges::lower_bound(children, row, {}, &CellChildren::first) - children.begin();
  };
  return {merged(rows.begin), merged(rows.end)};
}

}  // namespace

double MultigridLevel::diagonal(std::size_t row, std::size_t column) const {
  const auto &x = column_axis.faces, &y = row_axis.faces;
  return row_axis.weights[row] * (x[column] + x[column + 1]) + column_axis.weights[column] * (y[row] + y[row + 1]);
}

std::vector<MultigridLevel> multigrid_levels(const Coefficients& finest) {
  std::vector<MultigridLevel> levels{
      {finest_axis(finest.rows.faces, finest.rows.weights), finest_axis(finest.columns.faces, finest.columns.weights)}};
  // Next to one cell only the other axis matters.
  std::vector<double>&widths = levels[0].column_axis.widths, &heights = levels[0].row_axis.widths;
  if (widths.size() == 1) widths.front() = heights.front();
  if (heights.size() == 1) heights.front() = widths.front();
  while (levels.back().cells() > most_bottom_cells) {
    MultigridLevel next = coarser(levels.back());
    levels.push_back(std::move(next));
  }
  return levels;
}

MultigridLevels::MultigridLevels(SharedGrid& grid, const Coefficients& coefficients)
    : levels_(multigrid_levels(coefficients)), bottom_inverse_(inverse_of(levels_.back())), first_whole_(count()) {
  std::vector<RowRange> rows;
  for (std::size_t slot = 0; slot < grid.shares().size(); ++slot) rows.push_back(grid.rows_of(static_cast<int>(slot)));
  const bool alone = std::ranges::count_if(rows, [](RowRange own) { return !own.empty(); }) <= 1;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t finer = level == 0 ? 0 : level - 1;
    bool is_whole = level == 0 ? count() == 1 : levels_[level].cells() <= most_whole_cells;
    std::vector<std::int64_t> counts;
    for (RowRange& own : rows) {
      const bool works = !own.empty();
      if (level > 0) own = merged_rows(own, levels_[finer].row_axis.transfer.children);
      is_whole = is_whole || (works && own.empty());
      counts.push_back(own.count());
    }
    owned_.push_back(rows);
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(levels_[level].columns());
    if (is_whole && !alone) {
      first_whole_ = static_cast<int>(level);
      gather_ = std::make_unique<RowGather>(grid.group(), counts, pitch);
      break;
    }
    right_sides_.push_back(std::make_unique<RowExchange>(grid.group(), counts, right_side_depth, pitch));
    const std::int64_t finer_pitch = RowField<HostExecution>::pitch_of(levels_[finer].columns());
    corrections_.push_back(std::make_unique<RowExchange>(grid.group(), counts, correction_depth, finer_pitch));
  }
}

RowRange MultigridLevels::held(int level, int slot) const {
  if (level < first_whole_) return owned(level, slot);
  // Units without cells of the finest grid do not need whole levels either.
  if (owned(0, slot).empty()) return {0, 0};
  return {0, levels_[static_cast<std::size_t>(level)].rows()};
}

}  // namespace steelyard::cavity
