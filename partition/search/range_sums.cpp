#include "partition/search/range_sums.hpp"

#include <algorithm>
#include <numeric>

namespace steelyard::partition {
namespace {

/// How far the others have to reach for all sums up to the largest to exist.
std::int64_t widest_gap(const SizeRanges& ranges) {
  std::int64_t widest = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) widest = std::max(widest, ranges[i].first - ranges[i - 1].last - 1);
  return widest;
}

void keep_longest(SizeRanges& ranges, std::size_t most) {
  if (ranges.size() <= most) return;
  const auto longer = [](const SizeRange& a, const SizeRange& b) {
    return a.last - a.first != b.last - b.first ? a.last - a.first > b.last - b.first : a.first < b.first;
  };
  std::nth_element(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(most), ranges.end(), longer);
  ranges.resize(most);
  std::sort(ranges.begin(), ranges.end(), [](const SizeRange& a, const SizeRange& b) { return a.first < b.first; });
}

/// The largest size in `ranges` that leaves one of `sums` of the `total`; -1 where there is none.
std::int64_t largest_leaving(std::int64_t total, const SizeRanges& ranges, const SizeRanges& sums) {
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    for (const SizeRange& sum : sums) {
      if (sum.first > total) break;
      const std::int64_t size = std::min(range->last, total - sum.first);
      if (size >= range->first && total - size <= sum.last) return size;
    }
  }
  return -1;
}

}  // namespace

SizeRanges sum_of(const SizeRanges& one, const SizeRanges& other, std::int64_t most) {
  SizeRanges all;
  all.reserve(one.size() * other.size());
  for (const SizeRange& a : one) {
    for (const SizeRange& b : other) {
      if (a.first > most - b.first) break;
      all.push_back({a.first + b.first, a.last > most - b.last ? most : a.last + b.last});
    }
  }
  std::sort(all.begin(), all.end(), [](const SizeRange& a, const SizeRange& b) { return a.first < b.first; });
  SizeRanges merged;
  for (const SizeRange& range : all) {
    if (!merged.empty() && range.first - 1 <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

std::optional<std::vector<std::int64_t>> split_in_ranges(std::int64_t total, std::span<const SizeRanges> ranges,
                                                         std::size_t most_ranges) {
  std::vector<std::int64_t> gaps;
  for (const SizeRanges& each : ranges) gaps.push_back(widest_gap(each));
  std::vector<std::size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return gaps[a] < gaps[b]; });

  // While no gap is wider than what the ones before it reach, their sums are all sizes up to the sum of the largest.
  std::vector<std::int64_t> reach{0};
  while (reach.size() <= order.size() && gaps[order[reach.size() - 1]] <= reach.back()) {
    const std::int64_t largest = ranges[order[reach.size() - 1]].back().last;
    reach.push_back(largest > total - reach.back() ? total : reach.back() + largest);
  }
  const std::size_t filled = reach.size() - 1;
  std::vector<SizeRanges> sums{{{0, reach.back()}}};
  const std::size_t most = std::max<std::size_t>(64, most_ranges / (order.size() - filled + 1));
  for (std::size_t i = filled; i < order.size() && sums.back().back().last < total; ++i) {
    sums.push_back(sum_of(sums.back(), ranges[order[i]], total));
    // The total is what all of this is for, however short its range.
    const SizeRange end = sums.back().back();
    keep_longest(sums.back(), most);
    if (end.last == total && sums.back().back() != end) sums.back().push_back(end);
  }

  std::vector<std::int64_t> sizes(ranges.size(), 0);
  std::int64_t left = total;
  if (sums.back().back().last < total) return std::nullopt;
  for (std::size_t i = sums.size() - 1; i > 0; --i) {
    const std::size_t unit = order[filled + i - 1];
    sizes[unit] = largest_leaving(left, ranges[unit], sums[i - 1]);
    left -= sizes[unit];
  }
  for (std::size_t i = filled; i > 0; --i) {
    const std::size_t unit = order[i - 1];
    sizes[unit] = largest_leaving(left, ranges[unit], {{0, reach[i - 1]}});
    left -= sizes[unit];
  }
  return sizes;
}

}  // namespace steelyard::partition
