#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "partition/search/sum_set.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_sum_set {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

/// Sizes from 0 of many kinds: any, multiples of a number, one or two residues, few, a range.
std::vector<std::int64_t> random_sizes(Random& random, int largest) {
  std::vector<std::int64_t> sizes{0};
  const int step = whole(random, 1, 6);
  const int kind = whole(random, 0, 4);
  const int low = whole(random, 1, largest);
  for (int size = 1; size <= largest; ++size) {
    const bool chosen = (kind == 0 && whole(random, 0, 2) == 0) || (kind == 1 && size % step == 0) ||
                        (kind == 2 && size % step <= 1 && whole(random, 0, 3) > 0) ||
                        (kind == 3 && whole(random, 0, 20) == 0) || (kind == 4 && size >= low);
    if (chosen) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

TEST_CASE("a sum set holds exactly the sums of one summand from each set") {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::int64_t limit = whole(random, 0, 1) == 0 ? whole(random, 0, 200) : whole(random, 200, 1500);
    const int largest = whole(random, 1, 90);
    SumSet sums(limit);
    std::vector<bool> expected(static_cast<std::size_t>(limit) + 1, false);
    expected[0] = true;
    for (int added = whole(random, 0, 30); added > 0; --added) {
      const auto sizes = random_sizes(random, largest);
      sums.add(sizes);
      std::vector<bool> next(expected.size(), false);
      for (std::size_t sum = 0; sum < expected.size(); ++sum) {
        for (const std::int64_t size : sizes) {
          const std::size_t to = sum + static_cast<std::size_t>(size);
          if (expected[sum] && to < next.size()) next[to] = true;
        }
      }
      expected = std::move(next);
      INFO("trial " << trial << ", limit " << limit << ", length " << sums.length());
      bool same = true;
      for (std::int64_t sum = 0; sum <= limit; ++sum) {
        same = same && sums.contains(sum) == expected[static_cast<std::size_t>(sum)];
      }
      REQUIRE(same);
      const std::int64_t stride = whole(random, 1, 8);
      const std::int64_t residue = whole(random, 0, static_cast<int>(stride) - 1);
      std::int64_t run = 0, longest = 0, first = 0;
      for (std::int64_t sum = residue; sum <= limit; sum += stride) {
        run = expected[static_cast<std::size_t>(sum)] ? run + 1 : 0;
        if (run > longest) first = sum - (run - 1) * stride;
        longest = std::max(longest, run);
      }
      const SumSet::Run found = sums.longest_run(residue, stride);
      REQUIRE((found.last < found.first) == (longest == 0));
      if (longest > 0) {
        REQUIRE(found.first == first);
        REQUIRE(found.last == first + (longest - 1) * stride);
      }
    }
    REQUIRE_FALSE(sums.contains(-1));
    REQUIRE_FALSE(sums.contains(limit + 1));
  }
}

TEST_CASE("sums that repeat are kept in few bits") {
  for (const std::int64_t step : {1, 2, 7}) {
    SumSet sums(1'000'000);
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 0; size <= 700; ++size) sizes.push_back(size * step);
    std::vector<std::int64_t> odd{0, 3 * step + 1};
    sums.add(odd);
    for (int i = 0; i < 2000; ++i) sums.add(sizes);
    CHECK(sums.length() < 100);
    CHECK(sums.contains(999'999 / step * step));
    CHECK(sums.contains(999'999 / step * step + 1));
    CHECK(sums.contains(2) == (step <= 2));
  }
}

}  // namespace steelyard::test_sum_set
