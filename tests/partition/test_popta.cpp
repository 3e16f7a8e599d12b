#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "models/kinds/akima_model.hpp"
#include "partition/popta.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_popta {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

/// Growing, falling or wandering times, with ties, of all sizes or some, in steps or not.
TimeTable random_table(Random& random, int most_units) {
  const int shape = whole(random, 0, 3);
  const int step = whole(random, 0, 2) == 0 ? whole(random, 2, 5) : 1;
  const double share = whole(random, 0, 1) == 0 ? 1.0 : uniform(random, 0.1, 1.0);
  TimeTable table;
  for (int units = step; units <= most_units; units += step) {
    if (uniform(random, 0.0, 1.0) > share) continue;
    double time_s = whole(random, 0, 6);
    if (shape == 1) time_s = units * uniform(random, 0.3, 3.0);
    if (shape == 2) time_s = most_units - units + uniform(random, 0.0, 1.0);
    if (shape == 3) time_s = units + 5.0;
    table.entries.push_back({units, time_s});
  }
  return table;
}

/// By the least makespan of each number of computation units on one processor more and more.
double least_makespan_s(std::int64_t total, const TimeTable& table, int processors) {
  std::vector<double> least(static_cast<std::size_t>(total) + 1, std::numeric_limits<double>::infinity());
  least[0] = 0.0;
  for (int i = 0; i < processors; ++i) {
    auto next = least;
    for (std::size_t units = 0; units < least.size(); ++units) {
      for (const auto& entry : table.entries) {
        const auto size = static_cast<std::size_t>(entry.units);
        if (size > units) break;
        next[units] = std::min(next[units], std::max(least[units - size], entry.time_s));
      }
    }
    least = next;
  }
  return least.back();
}

}  // namespace

TEST_CASE("popta finds the least makespan of identical processors with any times, or that there is no split") {
  Random random(1);
  const auto compare = [&](int processors, int most_units, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const TimeTable table = random_table(random, whole(random, 1, most_units));
      const int total = whole(random, 0, most_units * processors);
      const double expected = least_makespan_s(total, table, processors);
      INFO("total " << total << " over " << processors << ", trial " << trial);
      if (std::isinf(expected)) {
        REQUIRE_THROWS_AS(popta(total, table, processors), InvalidArgument);
        continue;
      }
      const Distribution split = popta(total, table, processors);
      REQUIRE(split.makespan_s() == expected);
      REQUIRE(split.units.size() == static_cast<std::size_t>(processors));
      REQUIRE(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == total);
      REQUIRE(std::is_sorted(split.units.rbegin(), split.units.rend()));
      for (std::size_t i = 0; i < split.units.size(); ++i) {
        REQUIRE(split.predicted_s[i] == table.time_s(split.units[i]));
      }
    }
  };
  for (const int processors : {1, 2, 3, 4, 5, 6, 7, 11}) {
    compare(processors, 12, 500);
    compare(processors, 90, 40);
  }
}

TEST_CASE("popta on models is as fast as any split of them") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const models::AkimaModel model(tests::random_points(random, whole(random, 2, 9), 60.0),
                                   tests::random_limit(random, 20.0, 60.0));
    const models::AkimaModel twin(model.points(), model.max_units());
    const std::vector<const models::SpeedModel*> models = {&model, &twin, &model};
    const int total = whole(random, 0, 50);
    REQUIRE(popta(total, models).makespan_s() == tests::least_makespan_s(total, models));
  }
}

TEST_CASE("where large slices are faster, popta leaves identical processors unequal loads") {
  TimeTable table;
  for (int units = 1; units <= 20; ++units) table.entries.push_back({units, units == 13 ? 1.0 : 10.0 + units});
  const Distribution split = popta(26, table, 4);
  CHECK(split.makespan_s() == 1.0);
  CHECK(std::count(split.units.begin(), split.units.end(), 13) == 2);
  CHECK(std::count(split.units.begin(), split.units.end(), 0) == 2);
}

TEST_CASE("popta refuses what identical processors cannot hold, no processors and models that differ") {
  const TimeTable table{{{4, 1.0}, {6, 2.0}}};
  CHECK(popta(14, table, 3).units == std::vector<std::int64_t>{6, 4, 4});
  CHECK_THROWS_MATCHES(popta(13, table, 3), InvalidArgument, MessageMatches(ContainsSubstring("13")));
  CHECK_THROWS_AS(popta(19, table, 3), InvalidArgument);
  CHECK_THROWS_AS(popta(-1, table, 3), InvalidArgument);
  CHECK_THROWS_AS(popta(4, table, 0), InvalidArgument);
  CHECK_THROWS_AS(popta(4, TimeTable{}, 3), InvalidArgument);
  CHECK(popta(0, TimeTable{}, 2).units == std::vector<std::int64_t>{0, 0});
  const ConstantModel one(1.0), two(2.0);
  CHECK_THROWS_MATCHES(popta(4, std::vector<const models::SpeedModel*>{&one, &two}), InvalidArgument,
                       MessageMatches(ContainsSubstring("model 1")));
}

TEST_CASE("popta splits two hundred thousand computation units over a thousand processors") {
  Random random(3);
  TimeTable table;
  for (int units = 1; units <= 2000; ++units) table.entries.push_back({units, units * uniform(random, 0.5, 2.0)});
  const Distribution split = popta(200000, table, 1000);
  CHECK(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == 200000);
  // No speed is above 2, so that 200 each take 100 s at least.
  CHECK(split.makespan_s() >= 100.0);
  CHECK(split.makespan_s() < 110.0);
}

}  // namespace steelyard::test_popta
