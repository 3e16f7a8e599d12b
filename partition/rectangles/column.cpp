#include "partition/rectangles/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

/// Heights of the units of one column, and what they mean for the choice of its width.
struct Heights {
  std::vector<std::int64_t> rows;
  double share = 0.0;              // of the matrix
  double seconds_per_width = 0.0;  // longest of rows / area, per block column
};

/// @param units all with work
Heights heights(const std::vector<int>& units, const std::vector<double>& shares, std::int64_t rows) {
  std::vector<double> share;
  std::vector<double> seconds_per_row;
  Heights heights;
  for (const int unit : units) {
    share.push_back(shares[static_cast<std::size_t>(unit)]);
    seconds_per_row.push_back(1.0 / share.back());
    heights.share += share.back();
  }
  heights.rows = proportional_parts(rows, share, seconds_per_row);
  for (std::size_t i = 0; i < units.size(); ++i) {
    heights.seconds_per_width =
        std::max(heights.seconds_per_width, static_cast<double>(heights.rows[i]) * seconds_per_row[i]);
  }
  return heights;
}

}  // namespace

Arrangement best_arrangement(std::span<const double> areas, const Extents& extents, std::optional<int> columns) {
  require_extents(extents);
  SortedCuts cuts(relative_areas(areas));
  const std::size_t most = std::min(cuts.units(), static_cast<std::size_t>(extents.columns));
  if (columns) {
    if (*columns < 1 || static_cast<std::size_t>(*columns) > most) {
      throw InvalidArgument(fmt::format("{} columns for {} units with work and {} blocks in a row (expected 1 to {})",
                                        *columns, cuts.units(), extents.columns, most));
    }
    for (int column = 0; column < *columns; ++column) cuts.add_column();
    return cuts.arrangement(static_cast<std::size_t>(*columns));
  }
  const auto rows = static_cast<double>(extents.rows);
  const auto width = static_cast<double>(extents.columns);
  double least = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t count = 1; count <= most; ++count) {
    const double height = static_cast<double>(count) * rows;
    if (height + width >= least) break;
    cuts.add_column();
    const double sum = height + width * cuts.sum();
    if (sum < least * (1.0 - least_gain)) {
      least = sum;
      best = count;
    }
  }
  return cuts.arrangement(best);
}

ColumnPartition column(std::span<const double> areas, const Extents& extents, std::optional<int> columns) {
  const Arrangement arrangement = best_arrangement(areas, extents, columns);
  const std::vector<double> shares = relative_areas(areas);
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
