#include "partition/rectangles/column.hpp"

#include <algorithm>

#include "partition/proportional_parts.hpp"

namespace steelyard::partition {
namespace {

/// Heights of the units of one column, and what they mean for the choice of its width.
struct Heights {
  std::vector<std::int64_t> rows;
  double share = 0.0;              // of the matrix
  double seconds_per_width = 0.0;  // longest of rows / area, per block column
};

Heights heights(const std::vector<int>& units, const std::vector<double>& shares, std::int64_t rows) {
  std::vector<double> share;
  std::vector<double> seconds_per_row;
  Heights heights;
  for (const int unit : units) {
    share.push_back(shares[static_cast<std::size_t>(unit)]);
    seconds_per_row.push_back(share.back() > 0.0 ? 1.0 / share.back() : 0.0);
    heights.share += share.back();
  }
  if (heights.share == 0.0) {
    heights.rows.assign(units.size(), 0);
    return heights;
  }
  heights.rows = proportional_parts(rows, share, seconds_per_row);
  for (std::size_t i = 0; i < units.size(); ++i) {
    heights.seconds_per_width =
        std::max(heights.seconds_per_width, static_cast<double>(heights.rows[i]) * seconds_per_row[i]);
  }
  return heights;
}

}  // namespace

ColumnPartition column(std::span<const double> areas, const Extents& extents) {
  return column(areas, extents, best_arrangement(areas, extents));
}

ColumnPartition column(std::span<const double> areas, const Extents& extents, int columns) {
  return column(areas, extents, best_arrangement(areas, extents, columns));
}

ColumnPartition column(std::span<const double> areas, const Extents& extents, const Arrangement& arrangement) {
  require_extents(extents);
  const std::vector<double> shares = relative_areas(areas);
  require_arrangement(areas, arrangement);

  std::vector<Heights> stacks;
  std::vector<double> share;
  std::vector<double> seconds_per_width;
  for (const std::vector<int>& units : arrangement) {
    stacks.push_back(heights(units, shares, extents.rows));
    share.push_back(stacks.back().share);
    seconds_per_width.push_back(stacks.back().seconds_per_width);
  }
  // Heights do not depend on widths, so the longest time of a column is its width times a constant.
  const std::vector<std::int64_t> widths = proportional_parts(extents.columns, share, seconds_per_width);

  ColumnPartition partition{extents, std::vector<Rectangle>(areas.size()), {}};
  std::int64_t first = 0;
  for (std::size_t c = 0; c < arrangement.size(); ++c) {
    if (widths[c] == 0) continue;
    Column column{first, widths[c], {}};
    std::int64_t row = 0;
    for (std::size_t i = 0; i < arrangement[c].size(); ++i) {
      const std::int64_t rows = stacks[c].rows[i];
      if (rows == 0) continue;
      column.units.push_back(arrangement[c][i]);
      partition.rectangles[static_cast<std::size_t>(arrangement[c][i])] = {row, first, rows, widths[c]};
      row += rows;
    }
    first += widths[c];
    partition.columns.push_back(std::move(column));
  }
  return partition;
}

}  // namespace steelyard::partition
