#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <set>

#include "partition/popta.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_repeated_sums {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("repeated sums are found exactly where there are some and are made of sizes of the set") {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::set<std::int64_t> set;
    const int most = whole(random, 1, whole(random, 0, 3) == 0 ? 200 : 20);
    for (int i = whole(random, 1, 20); i > 0; --i) set.insert(whole(random, 1, most));
    const std::vector<std::int64_t> sizes(set.begin(), set.end());
    const int count = whole(random, 1, 9);
    const int total = whole(random, 1, most * count + 5);
    std::vector<bool> reached(static_cast<std::size_t>(total) + 1, false);
    reached[0] = true;
    for (int i = 0; i < count; ++i) {
      for (std::size_t sum = reached.size(); sum-- > 0;) {
        for (const std::int64_t size : sizes) {
          const auto own = static_cast<std::size_t>(size);
          if (own <= sum && reached[sum - own]) reached[sum] = true;
        }
      }
    }
    const RepeatedSums sums(sizes, count, total);
    REQUIRE(sums.reaches_total() == reached.back());
    if (!reached.back()) continue;
    const auto split = sums.split();
    REQUIRE(split.size() == static_cast<std::size_t>(count));
    REQUIRE(std::accumulate(split.begin(), split.end(), std::int64_t{0}) == total);
    for (const std::int64_t size : split) REQUIRE((size == 0 || set.count(size) == 1));
  }
}

TEST_CASE("any number of equal sizes sums to its multiples only") {
  const std::vector<std::int64_t> sizes = {7};
  for (const std::int64_t count : {1, 2, 63, 64, 65, 1000}) {
    CHECK(RepeatedSums(sizes, count, 7 * count).split() ==
          std::vector<std::int64_t>(static_cast<std::size_t>(count), 7));
    CHECK_FALSE(RepeatedSums(sizes, count, 7 * count + 7).reaches_total());
    CHECK_FALSE(RepeatedSums(sizes, count, 7 * count - 1).reaches_total());
  }
}

}  // namespace steelyard::test_repeated_sums
