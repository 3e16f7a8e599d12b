#include "partition/rectangles/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {
namespace {

/// A further column must pay by more than sums of doubles scatter.
constexpr double least_gain = 1e-12;

/// A column more of the dynamic programme, whose `sums` are those of the first q units in the columns so far.
/// @param before share of the first q units
/// @return where the last column begins, for the first q units
std::vector<std::size_t> add_column(std::size_t columns, const std::vector<double>& before, std::vector<double>& sums) {
  std::vector<double> longer(sums.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begins(sums.size(), 0);
  for (std::size_t end = columns + 1; end < sums.size(); ++end) {
    for (std::size_t first = columns; first < end; ++first) {
      const double sum = sums[first] + static_cast<double>(end - first) * (before[end] - before[first]);
      if (sum < longer[end]) {
        longer[end] = sum;
        begins[end] = first;
      }
    }
  }
  sums = std::move(longer);
  return begins;
}

/// Areas divided by their sum. @throws InvalidArgument as best_arrangement()
std::vector<double> relative_areas(std::span<const double> areas) {
  if (areas.empty()) throw InvalidArgument("no areas to partition by (expected at least one)");
  double largest = 0.0;
  for (std::size_t i = 0; i < areas.size(); ++i) {
    if (!(areas[i] >= 0.0) || std::isinf(areas[i])) {
      throw InvalidArgument(fmt::format("area {} of unit {} (expected a finite number >= 0)", areas[i], i));
    }
    largest = std::max(largest, areas[i]);
  }
  if (largest == 0.0) throw InvalidArgument(fmt::format("all {} areas are 0 (expected one above 0)", areas.size()));
  // By the largest first, because the sum of finite areas need not be finite.
  std::vector<double> shares(areas.begin(), areas.end());
  for (double& share : shares) share /= largest;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace

Arrangement best_arrangement(std::span<const double> areas, const Extents& extents, std::optional<int> columns) {
  require_extents(extents);
  const std::vector<double> shares = relative_areas(areas);
  const auto share = [&](int unit) { return shares[static_cast<std::size_t>(unit)]; };
  std::vector<int> order;  // units with work, the largest first
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0.0) order.push_back(static_cast<int>(i));
  }
  std::ranges::stable_sort(order, std::greater<>(), share);
  std::vector<double> before{0.0};
  for (const int unit : order) before.push_back(before.back() + share(unit));
  const std::size_t most = std::min(order.size(), static_cast<std::size_t>(extents.columns));
  if (columns && (*columns < 1 || static_cast<std::size_t>(*columns) > most)) {
    throw InvalidArgument(fmt::format("{} columns for {} units with work and {} blocks in a row (expected 1 to {})",
                                      *columns, order.size(), extents.columns, most));
  }
  const auto rows = static_cast<double>(extents.rows);
  const auto width = static_cast<double>(extents.columns);
  std::vector<double> sums(before.size(), std::numeric_limits<double>::infinity());
  sums[0] = 0.0;
  std::vector<std::vector<std::size_t>> begins;
  double least = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t count = 1; count <= (columns ? static_cast<std::size_t>(*columns) : most); ++count) {
    const double height = static_cast<double>(count) * rows;
    if (!columns && height + width >= least) break;
    begins.push_back(add_column(count - 1, before, sums));
    const double sum = height + width * sums.back();
    if (columns || sum < least * (1.0 - least_gain)) {
      least = sum;
      best = count;
    }
  }
  Arrangement arrangement(best);
  std::size_t end = order.size();
  for (std::size_t column = best; column-- > 0;) {
    const std::size_t first = begins[column][end];
    for (std::size_t i = first; i < end; ++i) arrangement[column].push_back(order[i]);
    end = first;
  }
  return arrangement;
}

std::int64_t ColumnPartition::half_perimeters() const {
  std::int64_t sum = 0;
  for (const Rectangle& rectangle : rectangles) sum += rectangle.half_perimeter();
  return sum;
}

ColumnPartition column(std::span<const double> areas, const Extents& extents, std::optional<int> columns) {
  const Arrangement arrangement = best_arrangement(areas, extents, columns);
  const std::vector<double> shares = relative_areas(areas);
  std::vector<std::vector<std::int64_t>> heights;  // of the units of each column
  std::vector<double> column_shares;
  std::vector<double> seconds_per_width;  // longest of rows / area, per block column
  for (const std::vector<int>& units : arrangement) {
    std::vector<double> unit_shares;
    std::vector<double> seconds_per_row;
    for (const int unit : units) {
      unit_shares.push_back(shares[static_cast<std::size_t>(unit)]);
      seconds_per_row.push_back(1.0 / unit_shares.back());
    }
    heights.push_back(proportional_parts(extents.rows, unit_shares, seconds_per_row));
    column_shares.push_back(std::accumulate(unit_shares.begin(), unit_shares.end(), 0.0));
    seconds_per_width.push_back(0.0);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const double seconds = static_cast<double>(heights.back()[i]) * seconds_per_row[i];
      seconds_per_width.back() = std::max(seconds_per_width.back(), seconds);
    }
  }
  // Heights do not depend on widths, so the longest time of a column is its width times a constant.
  const std::vector<std::int64_t> widths = proportional_parts(extents.columns, column_shares, seconds_per_width);

  ColumnPartition partition{extents, std::vector<Rectangle>(areas.size()), {}};
  std::int64_t first = 0;
  for (std::size_t c = 0; c < arrangement.size(); ++c) {
    if (widths[c] == 0) continue;
    Column column{first, widths[c], {}};
    std::int64_t row = 0;
    for (std::size_t i = 0; i < arrangement[c].size(); ++i) {
      const std::int64_t rows = heights[c][i];
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
