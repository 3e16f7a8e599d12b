#include "partition/rectangles/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {
namespace {

/// A further column must pay by more than sums of doubles scatter.
constexpr double least_gain = 1e-12;

/// The dynamic programme: after c calls of add_column() it knows the best cuts into c columns.
class SortedCuts {
 public:
  explicit SortedCuts(const std::vector<double>& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] > 0.0) order_.push_back(static_cast<int>(i));
    }
    const auto share = [&](int unit) { return shares[static_cast<std::size_t>(unit)]; };
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return share(a) > share(b); });
    before_.push_back(0.0);
    for (const int unit : order_) before_.push_back(before_.back() + share(unit));
    sums_.assign(before_.size(), std::numeric_limits<double>::infinity());
    sums_[0] = 0.0;
  }

  std::size_t units() const { return order_.size(); }

  void add_column() {
    std::vector<double> sums(sums_.size(), std::numeric_limits<double>::infinity());
    std::vector<std::size_t> cuts(sums_.size(), 0);
    for (std::size_t end = cuts_.size() + 1; end < sums.size(); ++end) {
      for (std::size_t first = cuts_.size(); first < end; ++first) {
        const double sum = sums_[first] + static_cast<double>(end - first) * (before_[end] - before_[first]);
        if (sum < sums[end]) {
          sums[end] = sum;
          cuts[end] = first;
        }
      }
    }
    sums_ = std::move(sums);
    cuts_.push_back(std::move(cuts));
  }

  /// k_1 w_1 + … of the best arrangement in as many columns as were added.
  double sum() const { return sums_.back(); }

  Arrangement arrangement(std::size_t columns) const {
    Arrangement arrangement(columns);
    std::size_t end = order_.size();
    for (std::size_t column = columns; column-- > 0;) {
      const std::size_t first = cuts_[column][end];
      for (std::size_t i = first; i < end; ++i) arrangement[column].push_back(order_[i]);
      end = first;
    }
    return arrangement;
  }

 private:
  std::vector<int> order_;                      // units with work, largest first
  std::vector<double> before_;                  // share of the first q units
  std::vector<double> sums_;                    // of the first q units in the columns so far
  std::vector<std::vector<std::size_t>> cuts_;  // where the last of c columns begins, for the first q units
};

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
  std::vector<double> shares;
  double sum = 0.0;
  for (const double area : areas) {
    shares.push_back(area / largest);
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace

Arrangement best_arrangement(std::span<const double> areas, const Extents& extents, std::optional<int> columns) {
  require_extents(extents);
  SortedCuts cuts(relative_areas(areas));
  const std::size_t most = std::min(cuts.units(), static_cast<std::size_t>(extents.columns));
  if (columns && (*columns < 1 || static_cast<std::size_t>(*columns) > most)) {
    throw InvalidArgument(fmt::format("{} columns for {} units with work and {} blocks in a row (expected 1 to {})",
                                      *columns, cuts.units(), extents.columns, most));
  }
  const auto rows = static_cast<double>(extents.rows);
  const auto width = static_cast<double>(extents.columns);
  double least = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t count = 1; count <= (columns ? static_cast<std::size_t>(*columns) : most); ++count) {
    const double height = static_cast<double>(count) * rows;
    if (!columns && height + width >= least) break;
    cuts.add_column();
    const double sum = height + width * cuts.sum();
    if (columns || sum < least * (1.0 - least_gain)) {
      least = sum;
      best = count;
    }
  }
  return cuts.arrangement(best);
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
