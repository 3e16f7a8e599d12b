#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_constant_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a constant model has one speed for every size and time proportional to size") {
  const ConstantModel model(250.0);
  CHECK(model.kind() == "constant");
  for (const double units : {0.0, 1e-9, 1.0, 250.0, 1e15}) {
    CHECK(model.speed(units) == 250.0);
    CHECK_THAT(model.time_s(units), WithinRel(units / 250.0, 1e-15));
  }
  CHECK(model.units_within(2.0) == 500.0);
}

TEST_CASE("a constant model is bounded only by its limit") {
  CHECK(ConstantModel(1.0).max_units() == infinity);
  const ConstantModel model(10.0, 35.0);
  CHECK(model.max_units() == 35.0);
  CHECK(model.units_within(3.0) == 30.0);
  CHECK(model.units_within(4.0) == 35.0);
}

TEST_CASE("a constant model of points has the speed of all the work over all the time") {
  const std::array points{MeasuredPoint{10.0, 1.0, 1, 0.0}, MeasuredPoint{90.0, 3.0, 1, 0.0}};
  CHECK_THAT(ConstantModel(points).speed(1.0), WithinRel(25.0, 1e-15));
  CHECK(ConstantModel(points, 40.0).max_units() == 40.0);
}

TEST_CASE("the speed of points lies between the slowest and the fastest point and follows the time scale") {
  tests::Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    auto points = tests::random_points(random, tests::whole(random, 1, 10), 100.0);
    double slowest = infinity, fastest = 0.0;
    for (const MeasuredPoint& point : points) {
      slowest = std::min(slowest, point.units / point.time_s);
      fastest = std::max(fastest, point.units / point.time_s);
    }
    const double speed = ConstantModel(points).speed(0.0);
    REQUIRE(speed >= slowest * (1.0 - 1e-12));
    REQUIRE(speed <= fastest * (1.0 + 1e-12));
    for (MeasuredPoint& point : points) point.time_s *= 4.0;
    REQUIRE_THAT(ConstantModel(points).speed(0.0), WithinRel(0.25 * speed, 1e-12));
  }
}

TEST_CASE("a speed or limit that is not positive is refused with its value") {
  const double bad = GENERATE(0.0, -3.5, -infinity, not_a_number);
  CHECK_THROWS_AS(ConstantModel(bad), InvalidArgument);
  CHECK_THROWS_AS(ConstantModel(1.0, bad), InvalidArgument);
  CHECK_THROWS_AS(ConstantModel(infinity), InvalidArgument);
  CHECK_THROWS_MATCHES(ConstantModel(-3.5), InvalidArgument, MessageMatches(ContainsSubstring("-3.5")));
  CHECK_THROWS_MATCHES(ConstantModel(1.0, -7.5), InvalidArgument, MessageMatches(ContainsSubstring("-7.5")));
}

TEST_CASE("no points or points without a speed make no constant model") {
  CHECK_THROWS_MATCHES(ConstantModel(std::span<const MeasuredPoint>{}), InvalidArgument,
                       MessageMatches(ContainsSubstring("no points")));
  CHECK_THROWS_AS(ConstantModel(std::array{MeasuredPoint{}}), InvalidArgument);
  CHECK_THROWS_AS(ConstantModel(std::array{MeasuredPoint{1.0, -1.0, 1, 0.0}}), InvalidArgument);
}

}  // namespace steelyard::test_constant_model
