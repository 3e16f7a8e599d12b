#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <chrono>
#include <cmath>
#include <numbers>

#include "models/kinds/sine_plateau_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_sine_plateau_model {

using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

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
Points points_of(Random& random, const Truth& truth, int count, double noise = 0.0) {
  std::normal_distribution<double> error;
  const double last = truth.c * uniform(random, 1.3, 2.0);
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = last * i / count;
    points.push_back({units, units / truth.speed(units) * (noise > 0.0 ? 1.0 + noise * error(random) : 1.0)});
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

TEST_CASE("all four parameters are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Truth truth = random_truth(random);
    const Points points = points_of(random, truth, whole(random, 12, 60));
    const SinePlateauModel model(points);
    INFO("trial " << trial << ": " << points.size() << " points, c/b " << truth.c / truth.b << ", d/a "
                  << truth.d / truth.a);
    REQUIRE(model.c() == last_within(points, truth.c));
    REQUIRE_THAT(model.a(), WithinRel(truth.a, 1e-5));
    REQUIRE_THAT(model.b(), WithinRel(truth.b, 1e-5));
    REQUIRE_THAT(model.d(), WithinRel(truth.d, 1e-9));
    REQUIRE(model.fit_error().largest < 1e-5);
  }
}

TEST_CASE("with 5 % noise the parameters are found nearly") {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Truth truth = random_truth(random);
    const Points points = points_of(random, truth, 100, 0.05);
    const SinePlateauModel model(points);
    INFO("trial " << trial << ": c/b " << truth.c / truth.b << ", d/a " << truth.d / truth.a);
    REQUIRE_THAT(model.c(), WithinRel(truth.c, 0.06));
    REQUIRE_THAT(model.d(), WithinRel(truth.d, 0.05));
    for (double share = 0.1; share < 0.9; share += 0.1) {
      REQUIRE_THAT(model.speed(share * truth.c), WithinRel(truth.speed(share * truth.c), 0.1));
    }
  }
}

TEST_CASE("a sine without a plateau goes on at its last speed") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    Truth truth = random_truth(random);
    Points points = points_of(random, truth, 30);
    for (MeasuredPoint& point : points) {
      point.units *= truth.c / points.back().units;
      if (&point == &points.back()) point.units = truth.c;
    }
    for (MeasuredPoint& point : points) point.time_s = point.units / (truth.a * std::sin(point.units / truth.b));
    const SinePlateauModel model(points);
    REQUIRE(model.fit_error().largest < 1e-5);
    REQUIRE_THAT(model.speed(10.0 * truth.c), WithinRel(points.back().speed(), 1e-4));
  }
}

TEST_CASE("one or two points, and equal speeds, make a constant") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 1, 2), 500.0);
    const SinePlateauModel few(points);
    REQUIRE(few.kind() == "sine_plateau");
    REQUIRE(few.c() == 0.0);
    const double least = std::min(points.front().speed(), points.back().speed());
    const double most = std::max(points.front().speed(), points.back().speed());
    for (const double units : {0.0, 1e-6, 100.0, 1e6}) {
      REQUIRE(few.speed(units) == few.d());
      REQUIRE(few.d() >= least * (1.0 - 1e-12));
      REQUIRE(few.d() <= most * (1.0 + 1e-12));
    }
    points = random_points(random, whole(random, 1, 20), 500.0);
    for (MeasuredPoint& point : points) point.time_s = point.units / 250.0;
    // Close together, so that the top of a sine is nearly as flat as they are.
    if (trial % 2 == 0) {
      for (MeasuredPoint& point : points) point.units += 1e6;
      for (MeasuredPoint& point : points) point.time_s = point.units / 250.0;
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
    sines += SinePlateauModel(flat).c() > 0.0 ? 1 : 0;
    plateaus += SinePlateauModel(curved).c() < curved.back().units ? 1 : 0;
  }
  INFO("of " << count << " points from " << first << " on: " << sines << " sines and " << plateaus << " plateaus");
  CHECK(sines <= (count < 100 ? 0.35 : 0.1) * trials);
  CHECK(plateaus <= (count < 100 ? 0.6 : 0.15) * trials);
}

TEST_CASE("speed is positive everywhere and its angle stays below half a wave") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = random_points(random, whole(random, 1, 15), 500.0);
    if (trial % 3 == 0) {
      // Falling all the way, which a sine can only do past its top.
      for (MeasuredPoint& point : points) point.time_s = point.units / (1200.0 - point.units);
    }
    const SinePlateauModel model(points);
    REQUIRE(model.b() > 0.0);
    REQUIRE(model.c() / model.b() < std::numbers::pi);
    REQUIRE(model.d() > 0.0);
    for (double units = 1e-3; units < 1e5; units *= 1.3) {
      REQUIRE(model.speed(units) > 0.0);
      REQUIRE(std::isfinite(model.speed(units)));
    }
    if (model.c() > 0.0) REQUIRE(model.speed(model.c()) > 0.0);
  }
}

TEST_CASE("the plateau begins right after c, which belongs to the sine") {
  Random random(6);
  const Truth truth{100.0, 50.0, 80.0, 40.0};
  const SinePlateauModel model(points_of(random, truth, 40));
  CHECK_THAT(model.speed(model.c()), WithinRel(100.0 * std::sin(model.c() / 50.0), 1e-5));
  CHECK_THAT(model.speed(std::nextafter(model.c(), 1e9)), WithinRel(40.0, 1e-9));
}

TEST_CASE("where time falls at the plateau, units within it are those of the plateau's start") {
  // The sine ends at 100 sin(0.9 pi), which is far slower than the plateau.
  Points points;
  const Truth truth{100.0, 50.0, 0.9 * std::numbers::pi * 50.0, 90.0};
  Random random(7);
  const SinePlateauModel model(points_of(random, truth, 60));
  const double c = model.c();
  const double before = model.time_s(c);
  const double after = model.time_s(std::nextafter(c, 1e9));
  REQUIRE(after < before);
  CHECK(model.units_within(after) > c);
  const double between = 0.5 * (before + after);
  CHECK_THAT(model.units_within(between), WithinRel(between * model.d(), 1e-9));
  CHECK(model.units_within(after * 0.999) < c);
}

TEST_CASE("a sine and plateau through a thousand points is fitted in seconds") {
  Random random(8);
  const bool noisy = GENERATE(false, true);
  const Points points = points_of(random, {100.0, 500.0, 900.0, 30.0}, 1000, noisy ? 0.05 : 0.0);
  const auto start = std::chrono::steady_clock::now();
  const SinePlateauModel model(points);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK_THAT(model.c(), WithinRel(900.0, 0.02));
  CHECK(seconds.count() < 10.0);  // far more than that, so that a sanitizer may look
}

}  // namespace steelyard::test_sine_plateau_model
