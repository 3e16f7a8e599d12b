#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "partition/search/least_total.hpp"
#include "tests/partition/random_choices.hpp"

namespace steelyard::test_core_search {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("the core search finds the cheapest split within the budget, the lexicographically greatest of those") {
  Random random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    Choices choices = tests::random_choices(random, whole(random, 1, 5), 6, 8);
    for (auto& unit : choices)
      unit[static_cast<std::size_t>(whole(random, 0, static_cast<int>(unit.size()) - 1))].cost = 0;
    const std::int64_t total = whole(random, 0, 4 * static_cast<int>(choices.size()));
    const std::int64_t budget =
        whole(random, 0, 5) == 0 ? std::numeric_limits<std::int64_t>::max() : whole(random, 0, 20);
    std::optional<std::vector<std::int64_t>> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    tests::for_each_choice(total, choices, [&](const auto& units, std::int64_t, std::int64_t sum) {
      if (sum > budget || (best && (sum > least || (sum == least && units < *best)))) return;
      best = units;
      least = sum;
    });
    INFO("trial " << trial << ", total " << total << ", budget " << budget);
    REQUIRE(search_core(total, choices, budget, 1'000'000).split == best);
  }
}

TEST_CASE("a core search that is not allowed enough work says how much it did and finds nothing") {
  Choices choices(20);
  for (auto& unit : choices) {
    for (int units = 0; units < 50; ++units) unit.push_back({units, units % 7 * 3});
  }
  const CoreSearch search = search_core(500, choices, 1000, 300);
  CHECK_FALSE(search.split);
  CHECK(search.work > 300);
  CHECK(search_core(500, choices, 1000, 100'000'000).split);
}

}  // namespace steelyard::test_core_search
