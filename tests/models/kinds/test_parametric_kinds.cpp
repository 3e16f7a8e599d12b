#include <numbers>
#include <stdexcept>

#include "models/kinds/constant_model.hpp"
#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_parametric_kinds {

using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

double parameter(const SpeedModel& model, const std::string& name) {
  for (const auto& [known, value] : model.parameters()) {
    if (known == name) return value;
  }
  throw std::out_of_range(name);
}

double saturating(double a, double b, double units) { return -a * std::expm1(-b * units); }

/// Sizes of equal ratio over what b x says most about: from 0.05 or so to 3 or so.
Points saturating_points(Random& random, double a, double b, int count, double noise = 0.0) {
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

struct Truth {
  double a, b, c, d;
  double speed(double units) const { return units <= c ? a * std::sin(units / b) : d; }
};

/// Angles at c from a quarter of a half wave to nearly all of it; a plateau that is clearly off the sine's end.
Truth random_truth(Random& random) {
  Truth truth{};
  truth.a = std::exp(uniform(random, -10.0, 20.0));
  truth.b = std::exp(uniform(random, -5.0, 15.0));
  truth.c = truth.b * uniform(random, 0.8, 2.7);
  const double end = truth.a * std::sin(truth.c / truth.b);
  truth.d = end * (whole(random, 0, 1) == 0 ? uniform(random, 0.3, 0.7) : uniform(random, 1.4, 2.0));
  return truth;
}

/// Equal steps up to twice c or so, at least five of them on the sine.
Points points_of(Random& random, const Truth& truth, int count) {
  const double last = truth.c * uniform(random, 1.3, 2.0);
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = last * i / count;
    points.push_back({units, units / truth.speed(units)});
  }
  return points;
}

/// The last measured size on the sine, which is the best that c can be known.
double last_within(const Points& points, double c) {
  double last = 0.0;
  for (const MeasuredPoint& point : points) {
    if (point.units <= c) last = point.units;
  }
  return last;
}

}  // namespace

TEST_CASE("a constant model has the speed of all the work over all the time, at every size up to its limit") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = random_points(random, whole(random, 1, 10), 100.0);
    double units = 0.0, time_s = 0.0;
    for (const MeasuredPoint& point : points) {
      units += point.units;
      time_s += point.time_s;
    }
    const ConstantModel of_points(points, 35.0), given(units / time_s, 35.0);
    for (const ConstantModel* model : {&of_points, &given}) {
      REQUIRE(model->max_units() == 35.0);
      for (const double size : {0.0, 1e-9, 1.0, 35.0})
        REQUIRE_THAT(model->speed(size), WithinRel(units / time_s, 1e-14));
      REQUIRE_THAT(model->units_within(20.0 * time_s / units), WithinRel(20.0, 1e-12));
    }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -3.5, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(ConstantModel(bad), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(ConstantModel(-3.5), InvalidArgument, MessageMatches(ContainsSubstring("-3.5")));
}

TEST_CASE("both parameters of a saturating speed are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const double a = std::exp(uniform(random, -20.0, 30.0));
    const double b = std::exp(uniform(random, -25.0, 5.0));
    const Points points = saturating_points(random, a, b, whole(random, 2, 40));
    const SaturatingModel model(points);
    INFO(points.size() << " points, a " << a << ", b " << b);
    REQUIRE_THAT(parameter(model, "a"), WithinRel(a, 1e-5));
    REQUIRE_THAT(parameter(model, "b"), WithinRel(b, 1e-5));
    REQUIRE(model.fit_error().largest < 1e-6);
    REQUIRE_THAT(model.speed(0.3 / b), WithinRel(saturating(a, b, 0.3 / b), 1e-5));
  }
}

TEST_CASE("one point, equal speeds and falling ones make a constant") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 1, 20), 500.0);
    for (MeasuredPoint& point : points)
      point.time_s = point.units / (trial % 2 == 0 ? 250.0 : 500.0 - 0.2 * point.units);
    const SaturatingModel model(points);
    const double speed = model.speed(points.front().units);
    for (const double units : {points.back().units, 1e6}) REQUIRE_THAT(model.speed(units), WithinRel(speed, 1e-6));
    REQUIRE(speed <= points.front().speed() * (1.0 + 1e-9));
    REQUIRE(speed >= points.back().speed() * (1.0 - 1e-9));
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
    double before = 0.0;
    for (double units = 1e-3; units < 1e5; units *= 1.3) {
      const double speed = model.speed(units);
      REQUIRE((speed > 0.0 && speed >= before && speed <= parameter(model, "a")));
      before = speed;
    }
  }
}

TEST_CASE("no other parameters fit the points better by more than rounding") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = saturating_points(random, 100.0, 0.01, 20, 0.2);
    const SaturatingModel model(points);
    const auto squares = [&](double a, double b) {
      double sum = 0.0;
      for (const MeasuredPoint& point : points) {
        const double deviation = saturating(a, b, point.units) / point.speed() - 1.0;
        sum += deviation * deviation;
      }
      return sum;
    };
    const double least = squares(parameter(model, "a"), parameter(model, "b"));
    for (int i = 0; i < 300; ++i) {
      const double spread = i % 2 == 0 ? 0.01 : 2.0;
      const double a = parameter(model, "a") * std::exp(uniform(random, -spread, spread));
      const double b = parameter(model, "b") * std::exp(uniform(random, -spread, spread));
      REQUIRE(squares(a, b) >= least * (1.0 - 1e-6));
    }
  }
}

TEST_CASE("all four parameters are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Truth truth = random_truth(random);
    const Points points = points_of(random, truth, whole(random, 12, 60));
    const SinePlateauModel model(points);
    INFO("trial " << trial << ": " << points.size() << " points, c/b " << truth.c / truth.b << ", d/a "
                  << truth.d / truth.a);
    REQUIRE(parameter(model, "c") == last_within(points, truth.c));
    REQUIRE_THAT(parameter(model, "a"), WithinRel(truth.a, 1e-5));
    REQUIRE_THAT(parameter(model, "b"), WithinRel(truth.b, 1e-5));
    REQUIRE_THAT(parameter(model, "d"), WithinRel(truth.d, 1e-9));
    REQUIRE(model.fit_error().largest < 1e-5);
  }
}

TEST_CASE("one or two points, and equal speeds, make a sine and plateau a constant") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 1, 2), 500.0);
    const auto [least, most] = std::minmax({points.front().speed(), points.back().speed()});
    const SinePlateauModel few(points);
    REQUIRE(parameter(few, "c") == 0.0);
    for (const double units : {0.0, 1e-6, 100.0, 1e6}) REQUIRE(few.speed(units) == parameter(few, "d"));
    REQUIRE(parameter(few, "d") >= least * (1.0 - 1e-12));
    REQUIRE(parameter(few, "d") <= most * (1.0 + 1e-12));
    points = random_points(random, whole(random, 1, 20), 500.0);
    // Some close together, so that the top of a sine is nearly as flat as they are.
    for (MeasuredPoint& point : points) {
      if (trial % 2 == 0) point.units += 1e6;
      point.time_s = point.units / 250.0;
    }
    const SinePlateauModel equal(points);
    for (const double units : {0.0, 1e-6, 100.0, 1e7}) REQUIRE_THAT(equal.speed(units), WithinRel(250.0, 1e-9));
  }
}

TEST_CASE("noise about one speed is seldom taken for a sine, nor noise about a sine for a plateau") {
  Random random(9);
  std::normal_distribution<double> noise(1.0, 0.05);
  const double first = GENERATE(0.0, 2000.0);
  const int count = GENERATE(10, 100);
  int sines = 0, plateaus = 0;
  constexpr int trials = 50;
  for (int trial = 0; trial < trials; ++trial) {
    Points flat, curved;
    for (int i = 1; i <= count; ++i) {
      const double units = first + 10000.0 * i / count;
      flat.push_back({units, units / 200.0 * noise(random)});
      curved.push_back({units, units / (200.0 * std::sin(units / 5000.0)) * noise(random)});
    }
    sines += parameter(SinePlateauModel(flat), "c") > 0.0 ? 1 : 0;
    plateaus += parameter(SinePlateauModel(curved), "c") < curved.back().units ? 1 : 0;
  }
  INFO("of " << count << " points from " << first << " on: " << sines << " sines and " << plateaus << " plateaus");
  CHECK(sines <= (count < 100 ? 0.35 : 0.1) * trials);
  CHECK(plateaus <= (count < 100 ? 0.6 : 0.15) * trials);
}

TEST_CASE("the angle of a sine stays below half a wave, so that speed is positive everywhere") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = random_points(random, whole(random, 1, 15), 500.0);
    // Some fall all the way, which a sine can only do past its top.
    for (MeasuredPoint& point : points) {
      if (trial % 3 == 0) point.time_s = point.units / (1200.0 - point.units);
    }
    const SinePlateauModel model(points);
    REQUIRE(parameter(model, "b") > 0.0);
    REQUIRE(parameter(model, "c") / parameter(model, "b") < std::numbers::pi);
    for (double units = 1e-3; units < 1e5; units *= 1.3) {
      REQUIRE(model.speed(units) > 0.0);
      REQUIRE(std::isfinite(model.speed(units)));
    }
  }
}

}  // namespace steelyard::test_parametric_kinds
