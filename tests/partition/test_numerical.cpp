#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "models/kinds/akima_model.hpp"
#include "models/kinds/saturating_model.hpp"
#include "models/kinds/table_model.hpp"
#include "partition/geometric.hpp"
#include "partition/numerical.hpp"
#include "partition/proportional.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_numerical {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using models::AkimaModel;
using models::ConstantModel;
using models::SaturatingModel;
using tests::Kind;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

std::int64_t sum(const Distribution& split) {
  return std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0});
}

models::SpeedModelPtr wandering(Random& random, double most_units, double limit) {
  return std::make_unique<AkimaModel>(tests::random_points(random, whole(random, 2, 9), most_units), limit);
}

/// Speed that rises smoothly to a plateau and falls a little beyond, such that time grows everywhere.
models::SpeedModelPtr growing(Random& random, double most_units) {
  const double speed = std::exp(uniform(random, 3.0, 8.0));
  const double half = most_units * uniform(random, 0.001, 0.3);
  std::vector<models::MeasuredPoint> points;
  for (int i = 1; i <= 12; ++i) {
    const double units = most_units * std::pow(2.0, i - 12);
    points.push_back({units, (units + half) / speed * (1.0 + 0.1 * units / most_units)});
  }
  return std::make_unique<AkimaModel>(points);
}

}  // namespace

TEST_CASE("a numerical split has the least makespan of all splits of smooth models of any shape") {
  Random random(1);
  const auto compare = [&](int count, int most, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const int total = whole(random, 1, most);
      tests::Units units;
      for (int i = 0; i < count; ++i) {
        const double limit = i == 0 ? total + 0.5 : tests::random_limit(random, 0.5, total + 1.0);
        units.add(wandering(random, 1.5 * total, limit));
      }
      INFO("total " << total << " over " << count << ", trial " << trial);
      const Distribution split = numerical(total, units.models);
      REQUIRE(sum(split) == total);
      REQUIRE(split.makespan_s() == tests::least_makespan_s(total, units.models));
    }
  };
  compare(1, 200, 100);
  compare(2, 300, 500);
  compare(3, 60, 300);
  compare(4, 30, 150);
  compare(5, 16, 100);
}

TEST_CASE("a numerical split has the least makespan of all splits of every kind of model") {
  Random random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const int count = whole(random, 1, 4), total = whole(random, 1, 40);
    tests::Units units;
    for (int i = 0; i < count; ++i) {
      const double limit = i == 0 ? total + 0.5 : tests::random_limit(random, 0.5, total + 1.0);
      units.add(random_model(random, static_cast<Kind>(whole(random, 0, 2)), 1.5 * total, limit));
    }
    REQUIRE(numerical(total, units.models).makespan_s() == tests::least_makespan_s(total, units.models));
  }
}

TEST_CASE("the slices of a numerical split end together within one unit of work where time grows smoothly") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 20); i > 0; --i) units.add(growing(random, 20000.0));
    const Distribution split = numerical(whole(random, 1, 200000), units.models);
    for (std::size_t i = 0; i < split.units.size(); ++i) {
      REQUIRE(units.models[i]->time_s(static_cast<double>(split.units[i] + 1)) >= split.makespan_s() * (1.0 - 1e-12));
    }
  }
}

TEST_CASE("a numerical split is as fast as a geometric one where time grows and never slower elsewhere") {
  Random random(4);
  for (int trial = 0; trial < 150; ++trial) {
    const bool grows = trial % 2 == 0;
    tests::Units units;
    for (int i = whole(random, 1, 15); i > 0; --i) {
      units.add(grows ? growing(random, 5000.0) : wandering(random, 5000.0, std::numeric_limits<double>::infinity()));
    }
    const int total = whole(random, 1, 40000);
    const Distribution split = numerical(total, units.models);
    REQUIRE(sum(split) == total);
    const double other = geometric(total, units.models).makespan_s();
    REQUIRE(split.makespan_s() <= other);
    if (grows) REQUIRE(split.makespan_s() == other);
    REQUIRE(split.makespan_s() <= even(total, units.models).makespan_s());
  }
}

TEST_CASE("where a time falls with size one unit takes the makespan and the others end together before it") {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    // The first unit is slow at small sizes and catches up: about 1000 or nothing.
    const std::vector<models::MeasuredPoint> points = {{100, 1.0}, {300, 4.0}, {600, 4.0}, {1000, 2.0}, {2000, 8.0}};
    tests::Units units;
    units.add(std::make_unique<AkimaModel>(points));
    for (int i = whole(random, 10, 15); i > 0; --i) {
      units.add(std::make_unique<ConstantModel>(uniform(random, 50, 99)));
    }
    double speed = 0.0;
    for (std::size_t i = 1; i < units.models.size(); ++i) speed += units.models[i]->speed(1.0);
    // Too much for the others and a first part of the unit in 2 s, and too little for 1000 and as much as they can.
    const auto total = static_cast<std::int64_t>(2.0 * speed + uniform(random, 200.0, 800.0));
    const Distribution split = numerical(total, units.models);
    REQUIRE(sum(split) == total);
    REQUIRE(split.units[0] > 800);
    REQUIRE(split.makespan_s() == split.predicted_s[0]);
    const auto [shortest, longest] = std::minmax_element(split.predicted_s.begin() + 1, split.predicted_s.end());
    REQUIRE(*longest < split.predicted_s[0]);
    REQUIRE(*longest - *shortest <= 1.0 / 50.0);
  }
}

TEST_CASE("no numerical split falls into the gap where two units would both have to be slow") {
  // Either takes 9 or 10 units of work in a second, and any less for long.
  std::vector<models::MeasuredPoint> points;
  for (int size = 1; size <= 10; ++size) points.push_back({static_cast<double>(size), size < 9 ? 20.0 - size : 1.0});
  for (const double more : {11.0, 12.0, 18.0}) points.push_back({more, more});
  const AkimaModel model(points);
  const std::vector<const models::SpeedModel*> models = {&model, &model};
  for (int total = 1; total <= 36; ++total) {
    REQUIRE(numerical(total, models).makespan_s() == tests::least_makespan_s(total, models));
  }
}

TEST_CASE("a unit whose latency alone is longer than the others need gets nothing") {
  const std::vector<models::MeasuredPoint> slow_start = {{1, 1.0}, {10, 1.005}, {100, 1.05}, {1000, 1.5}};
  const SaturatingModel late(slow_start);
  const ConstantModel prompt(100.0);
  const std::vector<const models::SpeedModel*> models = {&late, &prompt};
  CHECK(numerical(50, models).units == std::vector<std::int64_t>{0, 50});
  const Distribution both = numerical(2000, models);
  CHECK(both.units[0] > 1000);
  CHECK(both.imbalance() < 0.01);
}

TEST_CASE("a numerical split never exceeds a limit and fills all of them where it must") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units;
    std::int64_t room = 0;
    for (int i = whole(random, 1, 8); i > 0; --i) {
      const double limit = uniform(random, 0.5, 500.0);
      units.add(wandering(random, 300.0, limit));
      room += static_cast<std::int64_t>(limit);
    }
    const Distribution full = numerical(room, units.models);
    REQUIRE(sum(full) == room);
    for (std::size_t i = 0; i < full.units.size(); ++i) {
      REQUIRE(full.units[i] == static_cast<std::int64_t>(units.models[i]->max_units()));
    }
    REQUIRE_THROWS_AS(numerical(room + 1, units.models), InvalidArgument);
    const std::int64_t most = numerical(room / 2, units.models).units[0];
    REQUIRE(static_cast<double>(most) <= units.models[0]->max_units());
  }
}

TEST_CASE(
    "more work never shortens a numerical split's makespan where time grows and one unit more never lengthens it") {
  Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 5); i > 0; --i) units.add(growing(random, 300.0));
    double before = 0.0;
    for (int total = 0; total <= 300; total += whole(random, 1, 20)) {
      const double makespan = numerical(total, units.models).makespan_s();
      REQUIRE(makespan >= before);
      before = makespan;
    }
    units.add(wandering(random, 300.0, std::numeric_limits<double>::infinity()));
    REQUIRE(numerical(300, units.models).makespan_s() <=
            numerical(300, std::span(units.models).first(units.models.size() - 1)).makespan_s());
  }
}

TEST_CASE("tables of sizes are split where a sum of them exists and refused elsewhere") {
  const std::vector<models::MeasuredPoint> points = {{4, 1.0}, {6, 0.5}, {10, 3.0}};
  const models::TableModel table(points);
  const std::vector<const models::SpeedModel*> models = {&table, &table};
  CHECK(numerical(12, models).units == std::vector<std::int64_t>{6, 6});
  CHECK(numerical(10, models).makespan_s() == 1.0);
  CHECK_THROWS_MATCHES(numerical(7, models), InvalidArgument, MessageMatches(ContainsSubstring("7")));
}

TEST_CASE("ten thousand smooth models are split by numerical") {
  Random random(8);
  tests::Units units;
  for (int i = 0; i < 10000; ++i) {
    units.add(i % 3 == 0 ? growing(random, 200.0) : wandering(random, 200.0, std::numeric_limits<double>::infinity()));
  }
  for (const std::int64_t total : {1, 9999, 1234567}) {
    const Distribution split = numerical(total, units.models);
    CHECK(sum(split) == total);
  }
}

TEST_CASE("huge totals are split by numerical without an overflow") {
  const ConstantModel one(1.0), three(3.0), bounded(5.0, 1e6);
  const std::vector<const models::SpeedModel*> models = {&one, &three, &bounded};
  for (const std::int64_t total : {std::int64_t{1} << 40, std::int64_t{1} << 60, std::int64_t{1} << 62}) {
    const Distribution split = numerical(total, models);
    CHECK(sum(split) == total);
    CHECK(split.units[2] <= 1000000);
    CHECK(split.makespan_s() <= geometric(total, models).makespan_s());
  }
}

}  // namespace steelyard::test_numerical
