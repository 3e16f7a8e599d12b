#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/proportional.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_constant {

using namespace steelyard::partition;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::whole;

TEST_CASE("slices are proportional to constant speeds within one unit") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 8); i > 0; --i) units.add(random_model(random, Kind::constant, 1.0));
    const int total = whole(random, 0, 100000);
    const Distribution split = constant(total, units.models);
    REQUIRE(std::accumulate(split.units.begin(), split.units.end(), std::int64_t{0}) == total);
    const double time_s = split.makespan_s();  // the common factor between speeds and slices
    for (std::size_t i = 0; i < units.models.size(); ++i) {
      const double share = units.models[i]->speed(1.0) * time_s;
      REQUIRE(static_cast<double>(split.units[i]) <= share * (1.0 + 1e-12));
      REQUIRE(static_cast<double>(split.units[i] + 1) >= share * (1.0 - 1e-12));
    }
  }
}

TEST_CASE("slices are exactly proportional where that comes out whole") {
  const ConstantModel one(100.0), two(200.0), seven(700.0);
  const std::vector<const models::SpeedModel*> models = {&one, &seven, &two};
  for (const std::int64_t factor : {0, 1, 13, 100000, 1000000007}) {
    CHECK(constant(10 * factor, models).units == std::vector<std::int64_t>{factor, 7 * factor, 2 * factor});
  }
}

TEST_CASE("a constant split has the least makespan of all on constant models") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 4); i > 0; --i) {
      units.add(random_model(random, Kind::constant, 1.0, tests::random_limit(random, 12.0, 24.0)));
    }
    const int total = whole(random, 0, 12);
    REQUIRE(constant(total, units.models).makespan_s() == tests::least_makespan_s(total, units.models));
  }
}

TEST_CASE("a unit without room for its share gets what it holds and the others share the rest") {
  const ConstantModel fast(900.0, 10.5), one(100.0), two(200.0);
  const std::vector<const models::SpeedModel*> models = {&fast, &one, &two};
  CHECK(constant(310, models).units == std::vector<std::int64_t>{10, 100, 200});
}

TEST_CASE("only the speed at the even share counts for who gets what") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    tests::Units units, constants;
    const int count = whole(random, 1, 6);
    const int total = whole(random, 0, 500);
    for (int i = 0; i < count; ++i) {
      units.add(random_model(random, Kind::as_measured, 300.0));
      constants.add(std::make_unique<ConstantModel>(units.models.back()->speed(static_cast<double>(total) / count)));
    }
    const Distribution split = constant(total, units.models);
    REQUIRE(split.units == constant(total, constants.models).units);
    // What is predicted is the functional model's time, not the constant one's.
    REQUIRE(split.predicted_s == predict(split.units, units.models).predicted_s);
  }
}

}  // namespace steelyard::test_constant
