#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "models/kinds/saturating_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_saturating_model {

using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

double saturating(double a, double b, double units) { return -a * std::expm1(-b * units); }

/// Sizes of equal ratio over what b x says most about: from 0.05 or so to 3 or so.
Points points_of(Random& random, double a, double b, int count, double noise = 0.0) {
  std::normal_distribution<double> error;
  Points points;
  const double first = uniform(random, 0.02, 0.1) / b;
  const double last = uniform(random, 2.0, 6.0) / b;
  for (int i = 0; i < count; ++i) {
    const double units = first * std::pow(last / first, static_cast<double>(i) / (count - 1));
    points.push_back({units, units / saturating(a, b, units) * (noise > 0.0 ? 1.0 + noise * error(random) : 1.0)});
  }
  return points;
}

}  // namespace

TEST_CASE("both parameters of a saturating speed are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const double a = std::exp(uniform(random, -20.0, 30.0));
    const double b = std::exp(uniform(random, -25.0, 5.0));
    const Points points = points_of(random, a, b, whole(random, 2, 40));
    const SaturatingModel model(points);
    INFO(points.size() << " points, a " << a << ", b " << b);
    REQUIRE_THAT(model.a(), WithinRel(a, 1e-5));
    REQUIRE_THAT(model.b(), WithinRel(b, 1e-5));
    REQUIRE(model.fit_error().largest < 1e-6);
    REQUIRE_THAT(model.speed(0.3 / b), WithinRel(saturating(a, b, 0.3 / b), 1e-5));
  }
}

TEST_CASE("with 5 % noise a saturating speed is found nearly") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const double a = 500.0, b = std::exp(uniform(random, -10.0, 0.0));
    const SaturatingModel model(points_of(random, a, b, 100, 0.05));
    REQUIRE_THAT(model.a(), WithinRel(a, 0.1));
    REQUIRE_THAT(model.b(), WithinRel(b, 0.15));
  }
}

TEST_CASE("one point makes a constant of its speed from there on") {
  for (const double units : {1e-3, 1.0, 64.0, 1e9}) {
    const SaturatingModel model(Points{{units, 0.5}});
    CHECK(model.kind() == "saturating");
    for (const double share : {1.0, 2.0, 1000.0}) CHECK_THAT(model.speed(share * units), WithinRel(2.0 * units, 1e-9));
  }
}

TEST_CASE("equal speeds make a constant, and falling ones do too") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 2, 20), 500.0);
    for (MeasuredPoint& point : points) point.time_s = point.units / 250.0;
    const SaturatingModel model(points);
    REQUIRE_THAT(model.speed(points.back().units), WithinRel(250.0, 1e-6));
    REQUIRE_THAT(model.speed(1e6), WithinRel(250.0, 1e-6));
    for (MeasuredPoint& point : points) point.time_s = point.units / (500.0 - 0.2 * point.units);
    const SaturatingModel falling(points);
    REQUIRE_THAT(falling.speed(1e6), WithinRel(falling.speed(points.front().units), 1e-6));
    REQUIRE(falling.speed(1e6) <= points.front().speed() * (1.0 + 1e-9));
    REQUIRE(falling.speed(1e6) >= points.back().speed() * (1.0 - 1e-9));
  }
}

TEST_CASE("speeds in proportion to the size, or steeper, make a line through the origin up to the last point") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 2, 20), 500.0);
    for (MeasuredPoint& point : points) point.time_s = 0.25;
    const SaturatingModel model(points);
    REQUIRE(model.fit_error().largest < 1e-3);
    const double last = points.back().units;
    REQUIRE_THAT(model.speed(0.5 * last), WithinRel(0.5 * model.speed(last), 1e-3));
    for (MeasuredPoint& point : points) point.time_s = 1.0 / point.units;
    const SaturatingModel steeper(points);
    REQUIRE_THAT(steeper.speed(0.5 * last), WithinRel(0.5 * steeper.speed(last), 1e-3));
    // Even then more work takes more time, so that a share of it can be found.
    REQUIRE(steeper.time_s(1.01 * last) > steeper.time_s(last));
  }
}

TEST_CASE("a saturating speed is positive, grows with the size and stays below its asymptote") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const SaturatingModel model(random_points(random, whole(random, 1, 15), 500.0));
    REQUIRE(model.a() > 0.0);
    REQUIRE(model.b() > 0.0);
    REQUIRE(std::isfinite(model.a()));
    double before = 0.0;
    for (double units = 1e-3; units < 1e5; units *= 1.3) {
      const double speed = model.speed(units);
      REQUIRE(speed > 0.0);
      REQUIRE(speed >= before);
      REQUIRE(speed <= model.a());
      before = speed;
    }
  }
}

TEST_CASE("no other parameters fit the points better by more than rounding") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = points_of(random, 100.0, 0.01, 20, 0.2);
    const SaturatingModel model(points);
    const auto squares = [&](double a, double b) {
      double sum = 0.0;
      for (const MeasuredPoint& point : points) {
        const double deviation = saturating(a, b, point.units) / point.speed() - 1.0;
        sum += deviation * deviation;
      }
      return sum;
    };
    const double least = squares(model.a(), model.b());
    for (int i = 0; i < 300; ++i) {
      const double spread = i % 2 == 0 ? 0.01 : 2.0;
      const double a = model.a() * std::exp(uniform(random, -spread, spread));
      const double b = model.b() * std::exp(uniform(random, -spread, spread));
      REQUIRE(squares(a, b) >= least * (1.0 - 1e-6));
    }
  }
}

}  // namespace steelyard::test_saturating_model
