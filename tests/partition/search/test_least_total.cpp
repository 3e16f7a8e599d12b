#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/search/least_total.hpp"
#include "tests/partition/random_choices.hpp"

namespace steelyard::test_least_total {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

std::int64_t cost_of(const std::vector<std::int64_t>& units, const Choices& choices) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (const Choice& choice : choices[i]) sum += choice.units == units[i] ? choice.cost : 0;
  }
  return sum;
}

}  // namespace

TEST_CASE("the least total cost is that of brute force, of the lexicographically greatest split") {
  Random random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const Choices choices = tests::random_choices(random, whole(random, 1, 5), 7, whole(random, 0, 30));
    const std::int64_t total = whole(random, 0, 4 * static_cast<int>(choices.size()));
    std::vector<std::int64_t> best;
    std::int64_t least = 0;
    tests::for_each_choice(total, choices, [&](const auto& units, std::int64_t, std::int64_t sum) {
      if (!best.empty() && (sum > least || (sum == least && units < best))) return;
      best = units;
      least = sum;
    });
    INFO("trial " << trial << ", total " << total);
    if (best.empty()) {
      REQUIRE_THROWS_AS(least_total(total, choices, 1'000'000), InvalidArgument);
      continue;
    }
    const LeastTotal proven = least_total(total, choices, 1'000'000);
    REQUIRE(proven.is_least);
    REQUIRE(proven.excess_bound == 0.0);
    REQUIRE(proven.units == best);
    const LeastTotal hurried = least_total(total, choices, 0);
    REQUIRE(std::accumulate(hurried.units.begin(), hurried.units.end(), std::int64_t{0}) == total);
    const std::int64_t cost = cost_of(hurried.units, choices);
    REQUIRE(cost >= least);
    REQUIRE(static_cast<double>(cost - least) <= hurried.excess_bound * (1.0 + 1e-12));
    if (hurried.is_least) REQUIRE(hurried.units == best);
  }
}

TEST_CASE("the least total cost of many units agrees with the full dynamic programme") {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const Choices choices = tests::random_choices(random, whole(random, 10, 40), 40, 1000);
    const std::int64_t total = whole(random, 10, 20) * static_cast<std::int64_t>(choices.size());
    constexpr std::int64_t none = std::int64_t{1} << 60;
    std::vector<std::int64_t> least(static_cast<std::size_t>(total) + 1, none);
    least[0] = 0;
    for (const auto& unit : choices) {
      std::vector<std::int64_t> next(least.size(), none);
      for (const Choice& choice : unit) {
        for (std::int64_t sum = choice.units; sum <= total; ++sum) {
          auto& cost = next[static_cast<std::size_t>(sum)];
          cost = std::min(cost, least[static_cast<std::size_t>(sum - choice.units)] + choice.cost);
        }
      }
      least = std::move(next);
    }
    if (least.back() >= none) {
      REQUIRE_THROWS_AS(least_total(total, choices, 100'000'000), InvalidArgument);
      continue;
    }
    const LeastTotal result = least_total(total, choices, 100'000'000);
    REQUIRE(result.is_least);
    REQUIRE(cost_of(result.units, choices) == least.back());
  }
}

}  // namespace steelyard::test_least_total
