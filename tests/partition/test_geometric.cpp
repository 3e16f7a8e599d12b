#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/exact.hpp"
#include "partition/geometric.hpp"
#include "partition/proportional.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_geometric {

using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::whole;

namespace {

/// Models whose time grows with size, roomy enough together for `total`.
tests::Units growing_units(Random& random, int count, int total) {
  tests::Units units;
  for (int i = 0; i < count; ++i) {
    const Kind kind = whole(random, 0, 3) == 0 ? Kind::constant : Kind::increasing_time;
    const double limit = i == 0 ? total + 0.5 : tests::random_limit(random, 0.5, total + 1.0);
    units.add(random_model(random, kind, total + 1.0, limit));
  }
  return units;
}

}  // namespace

TEST_CASE("a geometric split has the least makespan of all splits where time grows with size") {
  Random random(1);
  const auto compare = [&](int count, int most, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const int total = whole(random, 0, most);
      const tests::Units units = growing_units(random, count, total);
      INFO("total " << total << " over " << count << ", trial " << trial);
      REQUIRE(geometric(total, units.models).makespan_s() == tests::least_makespan_s(total, units.models));
    }
  };
  compare(1, 40, 100);
  compare(2, 40, 300);
  compare(3, 40, 100);
  compare(4, 40, 60);
  compare(4, 8, 200);
}

TEST_CASE("speeds as far apart as numbers can be, and times beyond them, are shared out as quickly as others") {
  constexpr std::int64_t total = 1'000'000'000'000;
  for (const double slow : {1e-300, 1.0}) {
    const ConstantModel least(slow);
    for (const double fast : {2.0, 1e200, 1e300}) {
      const ConstantModel most(fast);
      const std::vector<const models::SpeedModel*> models{&least, &most};
      for (const Distribution& found : {geometric(total, models), constant(total, models)}) {
        const double share = static_cast<double>(total) * slow / (slow + fast);
        CHECK(std::accumulate(found.units.begin(), found.units.end(), std::int64_t{0}) == total);
        CHECK(std::abs(static_cast<double>(found.units[0]) - share) <= 1.0 + 1e-9 * share);
      }
    }
  }
  const ConstantModel never(1e-300);
  const std::vector<const models::SpeedModel*> models{&never, &never};
  CHECK_THROWS_AS(geometric(total, models), InvalidArgument);
  CHECK_THROWS_AS(constant(total, models), InvalidArgument);
}

TEST_CASE("a geometric split is never slower than an even or a constant one where time grows with size") {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 30); i > 0; --i) units.add(random_model(random, Kind::increasing_time, 500.0));
    const int total = whole(random, 0, 5000);
    const double makespan = geometric(total, units.models).makespan_s();
    REQUIRE(makespan <= even(total, units.models).makespan_s());
    REQUIRE(makespan <= constant(total, units.models).makespan_s());
  }
}

TEST_CASE("the slices of a geometric split end together within one unit of work") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 20); i > 0; --i) units.add(random_model(random, Kind::increasing_time, 5000.0));
    const Distribution split = geometric(whole(random, 1, 100000), units.models);
    for (std::size_t i = 0; i < split.units.size(); ++i) {
      REQUIRE(units.models[i]->time_s(static_cast<double>(split.units[i] + 1)) >= split.makespan_s() * (1.0 - 1e-12));
    }
  }
}

TEST_CASE("more work never shortens a geometric split's makespan") {
  Random random(4);
  for (int trial = 0; trial < 30; ++trial) {
    const tests::Units units = growing_units(random, whole(random, 1, 6), 300);
    double before = 0.0;
    for (int total = 0; total <= 300; total += whole(random, 1, 10)) {
      const double makespan = geometric(total, units.models).makespan_s();
      REQUIRE(makespan >= before);
      before = makespan;
    }
  }
}

TEST_CASE("one unit more never lengthens a geometric split's makespan") {
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units = growing_units(random, whole(random, 1, 6), 300);
    const double before = geometric(300, units.models).makespan_s();
    units.add(random_model(random, Kind::increasing_time, 300.0));
    REQUIRE(geometric(300, units.models).makespan_s() <= before);
  }
}

TEST_CASE("a clock in other units does not change a geometric split") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units, slower;
    for (int i = whole(random, 1, 6); i > 0; --i) {
      auto points = tests::random_points(random, whole(random, 1, 8), 200.0);
      units.add(std::make_unique<models::PiecewiseLinearModel>(points));
      for (auto& point : points) point.time_s *= 1048576.0;
      slower.add(std::make_unique<models::PiecewiseLinearModel>(points));
    }
    const int total = whole(random, 0, 1000);
    REQUIRE(geometric(total, units.models).units == geometric(total, slower.models).units);
  }
}

TEST_CASE("ten thousand units of every kind are split") {
  Random random(7);
  tests::Units units;
  for (int i = 0; i < 10000; ++i) units.add(random_model(random, static_cast<Kind>(i % 3), 200.0));
  for (const std::int64_t total : {1, 9999, 1234567}) {
    const Distribution split = geometric(total, units.models);
    CHECK(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == total);
  }
}

TEST_CASE("ten thousand equal units get equal slices from the lowest index on") {
  const ConstantModel model(3.0);
  const std::vector<const models::SpeedModel*> models(10000, &model);
  const Distribution split = geometric(25000, models);
  for (std::size_t i = 0; i < models.size(); ++i) REQUIRE(split.units[i] == (i < 5000 ? 3 : 2));
}

TEST_CASE("huge totals are split without an overflow") {
  const ConstantModel one(1.0), three(3.0), bounded(5.0, 1e6);
  const std::vector<const models::SpeedModel*> models = {&one, &three, &bounded};
  for (const std::int64_t total : {std::int64_t{1} << 40, std::int64_t{1} << 53, std::int64_t{1} << 60,
                                   std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    const Distribution split = geometric(total, models);
    CHECK(split.units[0] + split.units[1] + split.units[2] == total);
    CHECK(split.units[2] == 1000000);
    CHECK_THAT(static_cast<double>(split.units[1]), WithinRel(0.75 * static_cast<double>(total), 1e-5));
  }
  const std::vector<const models::SpeedModel*> many(1000, &one);
  const Distribution split = geometric(std::int64_t{1} << 60, many);
  CHECK(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == std::int64_t{1} << 60);
}

TEST_CASE("a total that just fills every memory is split to the brim") {
  const ConstantModel a(1.0, 5.5), b(100.0, 7.0), c(0.001, 3.0);
  const std::vector<const models::SpeedModel*> models = {&a, &b, &c};
  CHECK(geometric(15, models).units == std::vector<std::int64_t>{5, 7, 3});
  CHECK_THROWS_AS(geometric(16, models), InvalidArgument);
}

TEST_CASE("a unit too small for one computation unit gets none") {
  const ConstantModel tiny(1000.0, 0.9), roomy(1.0);
  const std::vector<const models::SpeedModel*> models = {&tiny, &roomy};
  CHECK(geometric(4, models).units == std::vector<std::int64_t>{0, 4});
}

TEST_CASE("on models whose time grows, geometric is as fast as exact on the tables of the same models") {
  Random random(12);
  for (int trial = 0; trial < 200; ++trial) {
    const int total = whole(random, 1, 3000);
    const tests::Units units = growing_units(random, whole(random, 1, 40), total);
    const double least_s = exact(total, units.models).makespan_s();
    const double found_s = geometric(total, units.models).makespan_s();
    INFO("total " << total << ", trial " << trial);
    REQUIRE(found_s >= least_s);
    REQUIRE_THAT(found_s, WithinRel(least_s, 1e-9));
  }
}

}  // namespace steelyard::test_geometric
