#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "partition/search/near_largest.hpp"
#include "tests/partition/random_choices.hpp"

namespace steelyard::test_near_largest {

using namespace steelyard::partition;
using steelyard::tests::Random;
using steelyard::tests::whole;

namespace {

/// Of each unit the index of its last choice within a cost; nothing where one has none.
std::optional<std::vector<std::size_t>> largest_within(const Choices& choices, std::int64_t most_cost) {
  std::vector<std::size_t> largest;
  for (const auto& unit : choices) {
    std::size_t k = unit.size();
    while (k > 0 && unit[k - 1].cost > most_cost) --k;
    if (k == 0) return std::nullopt;
    largest.push_back(k - 1);
  }
  return largest;
}

}  // namespace

TEST_CASE("the choices near the largest sizes decide as all choices within the cost do") {
  Random random(1);
  int found = 0, none = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const int count = whole(random, 1, 4);
    const Choices choices = steelyard::tests::random_choices(random, count, whole(random, 0, 10), 8);
    const std::int64_t total = whole(random, 0, 10 * count);
    const std::int64_t most_cost = whole(random, 0, 8);
    const auto largest = largest_within(choices, most_cost);
    if (!largest) continue;

    std::optional<std::int64_t> least_largest, least_sum;
    std::vector<std::int64_t> cheapest;
    steelyard::tests::for_each_choice(total, choices, [&](const auto& units, std::int64_t most, std::int64_t sum) {
      if (most > most_cost) return;
      least_largest = std::min(most, least_largest.value_or(most));
      if (!least_sum || sum < *least_sum || (sum == *least_sum && units > cheapest)) cheapest = units;
      least_sum = std::min(sum, least_sum.value_or(sum));
    });

    INFO("trial " << trial << ", total " << total << " within " << most_cost);
    const auto near = near_largest(total, choices, most_cost, *largest);
    REQUIRE(near);
    REQUIRE(least_bottleneck(*near) == least_largest);
    auto split = least_total(*near);
    REQUIRE(split.has_value() == least_sum.has_value());
    least_sum ? ++found : ++none;
    if (!split) continue;
    for (std::size_t i = 0; i < choices.size(); ++i) (*split)[i] = choices[i][(*largest)[i]].units - (*split)[i];
    REQUIRE(*split == cheapest);
  }
  CHECK(found > 1000);
  CHECK(none > 1000);
}

TEST_CASE("only choices that the target leaves are near, and there is nothing where they are too many") {
  const Choices choices = {{{0, 0}, {3, 9}, {5, 1}, {7, 9}, {8, 2}, {9, 9}}, {{0, 0}, {4, 1}}};
  const auto near = near_largest(9, choices, 2, {4, 1});
  REQUIRE(near);
  CHECK(near->target == 3);
  REQUIRE(near->begin == std::vector<std::size_t>{0, 2, 3});
  CHECK(near->choices[0].units == 0);
  CHECK(near->choices[1].units == 3);  // of size 5
  CHECK(near->choices[1].cost == 1);
  CHECK(near->work() == 12);
  CHECK(near_largest(13, choices, 2, {4, 1})->target < 0);

  Choices many(2);
  for (auto& unit : many) {
    for (std::int64_t units = 0; units < 1000; ++units) unit.push_back({units, 0});
  }
  CHECK_FALSE(near_largest(1000, many, 0, {999, 999}));
  CHECK(near_largest(1990, many, 0, {999, 999}));
  many[0].push_back({std::numeric_limits<std::int64_t>::max(), 0});
  CHECK_FALSE(near_largest(1000, many, 0, {1000, 999}));
}

}  // namespace steelyard::test_near_largest
