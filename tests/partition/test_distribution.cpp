#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_distribution {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("the makespan is the longest time and 0 without units") {
  CHECK(Distribution{}.makespan_s() == 0.0);
  CHECK(Distribution{{1, 2, 3}, {0.5, 2.5, 1.5}}.makespan_s() == 2.5);
  CHECK(Distribution{{0}, {0.0}}.makespan_s() == 0.0);
}

TEST_CASE("the imbalance is the part of the makespan that the first unit to end waits") {
  CHECK(Distribution{}.imbalance() == 0.0);
  CHECK(Distribution{{3, 3}, {2.0, 2.0}}.imbalance() == 0.0);
  CHECK_THAT((Distribution{{3, 3}, {2.0, 1.5}}.imbalance()), WithinRel(0.25, 1e-14));
  CHECK(Distribution{{0, 0}, {0.0, 0.0}}.imbalance() == 0.0);
}

TEST_CASE("units without work do not count as unbalanced") {
  CHECK(Distribution{{5, 0, 5}, {2.0, 0.0, 2.0}}.imbalance() == 0.0);
  CHECK(Distribution{{5, 0}, {2.0, 0.0}}.imbalance() == 0.0);
}

TEST_CASE("the imbalance lies between 0 and 1 and does not depend on the clock's unit") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    Distribution distribution;
    for (int i = whole(random, 1, 6); i > 0; --i) {
      distribution.units.push_back(whole(random, 0, 3));
      distribution.predicted_s.push_back(distribution.units.back() == 0 ? 0.0 : uniform(random, 0.1, 2.0));
    }
    const double imbalance = distribution.imbalance();
    REQUIRE(imbalance >= 0.0);
    REQUIRE(imbalance < 1.0);
    for (double& seconds : distribution.predicted_s) seconds *= 1024.0;
    REQUIRE(distribution.imbalance() == imbalance);
  }
}

TEST_CASE("a prediction keeps the split and asks each unit's own model") {
  Random random(2);
  tests::Units units;
  for (const Kind kind : {Kind::constant, Kind::increasing_time, Kind::as_measured}) {
    units.add(random_model(random, kind, 100.0));
  }
  const Distribution distribution = predict({10, 0, 30}, units.models);
  CHECK(distribution.units == std::vector<std::int64_t>{10, 0, 30});
  REQUIRE(distribution.predicted_s.size() == 3);
  CHECK(distribution.predicted_s[0] == units.models[0]->time_s(10.0));
  CHECK(distribution.predicted_s[1] == 0.0);
  CHECK(distribution.predicted_s[2] == units.models[2]->time_s(30.0));
  CHECK(predict({}, {}).makespan_s() == 0.0);
}

TEST_CASE("a split for another number of models or with a negative slice is refused") {
  const ConstantModel model(1.0);
  const std::vector<const models::SpeedModel*> two = {&model, &model};
  CHECK_THROWS_MATCHES(predict({1, 2, 3}, two), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 slices") && ContainsSubstring("2 models")));
  CHECK_THROWS_AS(predict({}, two), InvalidArgument);
  CHECK_THROWS_AS(predict({3, -1}, two), InvalidArgument);
}

TEST_CASE("capacity is the whole units that fit and at most the total") {
  CHECK(capacity(ConstantModel(1.0, 7.9), 100) == 7);
  CHECK(capacity(ConstantModel(1.0, 7.0), 100) == 7);
  CHECK(capacity(ConstantModel(1.0, 0.5), 100) == 0);
  CHECK(capacity(ConstantModel(1.0, 7.9), 5) == 5);
  CHECK(capacity(ConstantModel(1.0), 100) == 100);
  CHECK(capacity(ConstantModel(1.0), 0) == 0);
  CHECK(capacity(ConstantModel(1.0), most) == most);
  CHECK(capacity(ConstantModel(1.0, 1e300), most) == most);
}

TEST_CASE("a total is feasible exactly when the capacities together reach it") {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    tests::Units units;
    std::int64_t room = 0;
    for (int i = whole(random, 1, 5); i > 0; --i) {
      const double limit = uniform(random, 0.1, 20.0);
      units.add(std::make_unique<ConstantModel>(1.0, limit));
      room += static_cast<std::int64_t>(limit);
    }
    REQUIRE_NOTHROW(require_feasible(room, units.models));
    REQUIRE_NOTHROW(require_feasible(0, units.models));
    REQUIRE_THROWS_MATCHES(require_feasible(room + 1, units.models), InvalidArgument,
                           MessageMatches(ContainsSubstring(std::to_string(room + 1)) &&
                                          ContainsSubstring("hold " + std::to_string(room))));
  }
}

TEST_CASE("unbounded units hold any total without an overflow") {
  const ConstantModel unbounded(1.0), bounded(1.0, 10.0);
  const std::vector<const models::SpeedModel*> models = {&unbounded, &bounded, &unbounded};
  CHECK_NOTHROW(require_feasible(most, models));
}

TEST_CASE("a negative total or no units are refused") {
  const ConstantModel model(1.0);
  const std::vector<const models::SpeedModel*> one = {&model};
  CHECK_THROWS_MATCHES(require_feasible(-5, one), InvalidArgument, MessageMatches(ContainsSubstring("-5")));
  CHECK_THROWS_MATCHES(require_feasible(5, {}), InvalidArgument, MessageMatches(ContainsSubstring("no processing")));
  CHECK_THROWS_AS(require_feasible(0, {}), InvalidArgument);
}

TEST_CASE("handing out a remainder one by one reaches the least makespan of models whose time grows") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 3); i > 0; --i) {
      units.add(random_model(random, Kind::increasing_time, 20.0, tests::random_limit(random, 12.0, 20.0)));
    }
    const int total = whole(random, 0, 12);
    std::vector<std::int64_t> slices(units.models.size(), 0);
    distribute_remainder(total, slices, units.models);
    REQUIRE(std::accumulate(slices.begin(), slices.end(), std::int64_t{0}) == total);
    const double makespan = predict(slices, units.models).makespan_s();
    REQUIRE(makespan == tests::least_makespan_s(total, units.models));
  }
}

TEST_CASE("equal units share a remainder from the lowest index on") {
  const ConstantModel model(2.0);
  const std::vector<const models::SpeedModel*> models(3, &model);
  std::vector<std::int64_t> units = {4, 4, 4};
  distribute_remainder(2, units, models);
  CHECK(units == std::vector<std::int64_t>{5, 5, 4});
  distribute_remainder(0, units, models);
  CHECK(units == std::vector<std::int64_t>{5, 5, 4});
}

TEST_CASE("a remainder goes where there is room and is refused where there is none") {
  const ConstantModel fast(100.0, 3.9), slow(1.0, 2.0);
  const std::vector<const models::SpeedModel*> models = {&fast, &slow};
  std::vector<std::int64_t> units = {3, 0};
  distribute_remainder(2, units, models);
  CHECK(units == std::vector<std::int64_t>{3, 2});
  CHECK_THROWS_MATCHES(distribute_remainder(1, units, models), InvalidArgument,
                       MessageMatches(ContainsSubstring("do not fit")));
}

}  // namespace steelyard::test_distribution
