#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>

#include "partition/search/range_sums.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_range_sums {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

SizeRanges random_ranges(Random& random, int most) {
  SizeRanges ranges{{0, whole(random, 0, 3) == 0 ? whole(random, 0, most) : 0}};
  for (int i = whole(random, 0, 3); i > 0; --i) {
    const std::int64_t first = ranges.back().last + whole(random, 2, most);
    ranges.push_back({first, first + whole(random, 0, 2)});
  }
  return ranges;
}

std::set<std::int64_t> sizes_in(const SizeRanges& ranges) {
  std::set<std::int64_t> sizes;
  for (const SizeRange& range : ranges) {
    for (std::int64_t size = range.first; size <= range.last; ++size) sizes.insert(size);
  }
  return sizes;
}

}  // namespace

TEST_CASE("sums of ranges are the sums of all pairs of their sizes, as few ranges as possible") {
  Random random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const SizeRanges one = random_ranges(random, 9), other = random_ranges(random, 9);
    const int most = whole(random, 0, 60);
    std::set<std::int64_t> expected;
    for (const std::int64_t a : sizes_in(one)) {
      for (const std::int64_t b : sizes_in(other)) {
        if (a + b <= most) expected.insert(a + b);
      }
    }
    const SizeRanges sums = sum_of(one, other, most);
    REQUIRE(sizes_in(sums) == expected);
    for (std::size_t i = 1; i < sums.size(); ++i) REQUIRE(sums[i].first > sums[i - 1].last + 1);
  }
}

TEST_CASE("a split in ranges is found exactly where there is one") {
  Random random(2);
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<SizeRanges> ranges;
    for (int i = whole(random, 1, 6); i > 0; --i) ranges.push_back(random_ranges(random, whole(random, 2, 20)));
    std::set<std::int64_t> sums{0};
    for (const SizeRanges& each : ranges) {
      std::set<std::int64_t> next;
      for (const std::int64_t a : sums) {
        for (const std::int64_t b : sizes_in(each)) next.insert(a + b);
      }
      sums = next;
    }
    const int total = whole(random, 0, static_cast<int>(*sums.rbegin()) + 3);
    const auto split = split_in_ranges(total, ranges);
    REQUIRE(split.has_value() == (sums.count(total) == 1));
    if (!split) continue;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      REQUIRE(sizes_in(ranges[i]).count((*split)[i]) == 1);
      sum += (*split)[i];
    }
    REQUIRE(sum == total);
  }
}

TEST_CASE("ranges up to the largest number are summed without an overflow") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const std::vector<SizeRanges> ranges(5, SizeRanges{{0, 0}, {largest - 7, largest}});
  const auto split = split_in_ranges(largest - 3, ranges);
  REQUIRE(split);
  CHECK(std::count(split->begin(), split->end(), 0) == 4);
  CHECK_FALSE(split_in_ranges(5, ranges));
}

TEST_CASE("sums that break up into more ranges than are kept end in a split or in none but never in a wrong one") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<SizeRanges> ranges;
    std::int64_t total = 0;
    for (int i = 0; i < 14; ++i) {
      const std::int64_t size = whole(random, 1000, 1000000);
      ranges.push_back({{0, 0}, {size, size}});
      if (whole(random, 0, 1) == 0) total += size;
    }
    const auto split = split_in_ranges(total, ranges, 1);
    if (!split) continue;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      REQUIRE(((*split)[i] == 0 || (*split)[i] == ranges[i][1].first));
      sum += (*split)[i];
    }
    REQUIRE(sum == total);
  }
}

}  // namespace steelyard::test_range_sums
