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

/// See MultigridLevels::bottom_inverse().
std::vector<double> inverse_of(const MultigridLevel& level) {
  const auto rows = static_cast<std::size_t>(level.rows()), columns = static_cast<std::size_t>(level.columns());
  const std::size_t n = rows * columns;
  std::vector<double> factor(n * n, 0.0);
  double mean = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t j = k / columns, i = k % columns;
    factor[k * n + k] = level.diagonal(j, i);
    mean += factor[k * n + k] / static_cast<double>(n);
    if (i > 0) factor[k * n + k - 1] = -level.row_axis.weights[j] * level.column_axis.faces[i];
    if (j > 0) factor[k * n + k - columns] = -level.column_axis.weights[i] * level.row_axis.faces[j];
  }
  if (mean == 0.0) mean = 1.0;
  // Cholesky's factor C, in the lower triangle.
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      double value = factor[k * n + l] + mean / static_cast<double>(n);
      for (std::size_t m = 0; m < l; ++m) value -= factor[k * n + m] * factor[l * n + m];
      factor[k * n + l] = l == k ? std::sqrt(value) : value / factor[l * n + l];
    }
  }
  // Columns of C^-1, then C^-T C^-1.
  std::vector<double> lower(n * n, 0.0), inverse(n * n, 0.0);
  for (std::size_t l = 0; l < n; ++l) {
    for (std::size_t k = l; k < n; ++k) {
      double value = k == l ? 1.0 : 0.0;
      for (std::size_t m = l; m < k; ++m) value -= factor[k * n + m] * lower[m * n + l];
      lower[k * n + l] = value / factor[k * n + k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = 0; l < n; ++l) {
      double value = 0.0;
      for (std::size_t m = std::max(k, l); m < n; ++m) value += lower[m * n + k] * lower[m * n + l];
      inverse[k * n + l] = value;
    }
  }
  return inverse;
}

std::vector<std::int64_t> counts(const std::vector<std::int64_t>& begins) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 1; i < begins.size(); ++i) all.push_back(begins[i] - begins[i - 1]);
  return all;
}

/// The slots' merged rows: those whose first row is theirs.
std::vector<std::int64_t> merged_begins(const std::vector<std::int64_t>& begins,
                                        const std::vector<CellChildren>& children) {
  std::vector<std::int64_t> merged;
  for (const std::int64_t begin : begins) {
    merged.push_back(std::ranges::lower_bound(children, begin, {}, &CellChildren::first) - children.begin());
  }
  return merged;
}

bool leaves_rows(const std::vector<std::int64_t>& begins, const std::vector<std::int64_t>& merged) {
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (begins[i] > begins[i - 1] && merged[i] == merged[i - 1]) return false;
  }
  return true;
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
    : levels_(multigrid_levels(coefficients)), bottom_inverse_(inverse_of(levels_.back())), begins_{{0}} {
  for (const std::int64_t count : grid.shares()) begins_[0].push_back(begins_[0].back() + count);
  const auto alone = std::count_if(grid.shares().begin(), grid.shares().end(), [](auto rows) { return rows > 0; }) <= 1;
  first_whole_ = count();
  for (int level = 0; level < count(); ++level) {
    const auto index = static_cast<std::size_t>(level);
    if (level > 0) {
      begins_.push_back(merged_begins(begins_[index - 1], levels_[index - 1].row_axis.transfer.children));
      const bool is_small = levels_[index].cells() <= most_whole_cells;
      if (!alone && (is_small || !leaves_rows(begins_[index - 1], begins_[index]))) first_whole_ = level;
    } else if (!alone && count() == 1) {
      first_whole_ = level;
    }
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(levels_[index].columns());
    const std::vector<std::int64_t> rows = counts(begins_[index]);
    if (level == first_whole_) {
      gather_ = std::make_unique<RowGather>(grid.group(), rows, pitch);
      break;
    }
    right_sides_.push_back(std::make_unique<RowExchange>(grid.group(), rows, right_side_depth, pitch));
    const std::int64_t finer_pitch =
        level == 0 ? pitch : RowField<HostExecution>::pitch_of(levels_[index - 1].columns());
    corrections_.push_back(std::make_unique<RowExchange>(grid.group(), rows, correction_depth, finer_pitch));
  }
}

RowRange MultigridLevels::owned(int level, int slot) const {
  const std::vector<std::int64_t>& begins = begins_[static_cast<std::size_t>(level)];
  return {begins[static_cast<std::size_t>(slot)], begins[static_cast<std::size_t>(slot) + 1]};
}

RowRange MultigridLevels::held(int level, int slot) const {
  if (level < first_whole_) return owned(level, slot);
  // Units without cells of the finest grid do not need whole levels either.
  if (owned(0, slot).empty()) return {0, 0};
  return {0, levels_[static_cast<std::size_t>(level)].rows()};
}

}  // namespace steelyard::cavity
