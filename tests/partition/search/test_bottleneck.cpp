#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "partition/search/bottleneck.hpp"
#include "tests/partition/random_choices.hpp"

namespace steelyard::test_bottleneck {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("the least bottleneck is that of brute force, and nothing where nothing sums to the total") {
  Random random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const Choices choices = tests::random_choices(random, whole(random, 1, 4), 9, whole(random, 0, 12));
    const std::int64_t total = whole(random, 0, 9 * static_cast<int>(choices.size()));
    std::optional<std::int64_t> least;
    tests::for_each_choice(total, choices, [&](const auto&, std::int64_t largest, std::int64_t) {
      if (!least || largest < *least) least = largest;
    });
    INFO("trial " << trial << ", total " << total);
    REQUIRE(least_bottleneck(total, choices) == least);
    for (std::int64_t cost = -1; cost <= 12; ++cost) {
      REQUIRE(is_reachable(total, choices, cost) == (least && cost >= *least));
    }
  }
}

TEST_CASE("a total is reachable exactly when a plain table of sums has it, whatever sizes have in common") {
  Random random(2);
  for (int trial = 0; trial < 1500; ++trial) {
    const int count = whole(random, 1, 14);
    const std::int64_t most = 1500;
    Choices choices(static_cast<std::size_t>(count));
    std::vector<bool> sums(most + 1, false);
    sums[0] = true;
    const int common = whole(random, 1, 7);
    for (auto& unit : choices) {
      // Mostly multiples of one number; now and then sizes that are not, which decide on residues.
      const int offset = whole(random, 0, 4) == 0 ? whole(random, 0, 5) : 0;
      unit.push_back({offset, 0});
      for (int j = 1; j <= 16; ++j) {
        const int units = j * common + offset + (offset > 0 ? whole(random, 0, 1) : 0);
        if (whole(random, 0, 2) > 0 && units > unit.back().units) unit.push_back({units, 0});
      }
      std::vector<bool> next(sums.size(), false);
      for (std::int64_t sum = 0; sum <= most; ++sum) {
        for (const Choice& choice : unit) {
          if (choice.units <= sum && sums[static_cast<std::size_t>(sum - choice.units)]) {
            next[static_cast<std::size_t>(sum)] = true;
          }
        }
      }
      sums = std::move(next);
    }
    INFO("trial " << trial << ", " << count << " units, common divisor " << common);
    for (std::int64_t total = 0; total <= most; total += whole(random, 1, 60)) {
      REQUIRE(is_reachable(total, choices, 0) == sums[static_cast<std::size_t>(total)]);
      REQUIRE(find_split(total, choices, 0, Prefer::less_cost).has_value() == sums[static_cast<std::size_t>(total)]);
    }
  }
}

TEST_CASE(
    "a split found within a cost sums to the total and is the lexicographically greatest, or the cheapest first") {
  Random random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const Choices choices = tests::random_choices(random, whole(random, 1, 5), 7, 6);
    const std::int64_t total = whole(random, 0, 4 * static_cast<int>(choices.size()));
    const std::int64_t most_cost = whole(random, 0, 6);
    std::optional<std::vector<std::int64_t>> greatest, cheapest;
    const auto rank = [&](const std::vector<std::int64_t>& units) {
      std::vector<std::int64_t> costs;
      for (std::size_t i = 0; i < units.size(); ++i) {
        for (const Choice& choice : choices[i]) {
          if (choice.units == units[i]) costs.insert(costs.end(), {choice.cost, -choice.units});
        }
      }
      return costs;
    };
    tests::for_each_choice(total, choices, [&](const auto& units, std::int64_t largest, std::int64_t) {
      if (largest > most_cost) return;
      if (!greatest || units > *greatest) greatest = units;
      if (!cheapest || rank(units) < rank(*cheapest)) cheapest = units;
    });
    REQUIRE(find_split(total, choices, most_cost, Prefer::more_units) == greatest);
    REQUIRE(find_split(total, choices, most_cost, Prefer::less_cost) == cheapest);
  }
}

TEST_CASE("sums near the largest number do not overflow") {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const Choices choices{{{0, 0}, {huge, 5}}, {{0, 0}, {huge, 7}}, {{0, 0}, {huge / 2, 1}}};
  CHECK(least_bottleneck(huge, choices) == 5);
  CHECK(least_bottleneck(huge + huge / 2, choices) == 5);
  CHECK_FALSE(least_bottleneck(huge / 4, choices));
}

}  // namespace steelyard::test_bottleneck
