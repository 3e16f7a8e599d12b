#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "models/kinds/akima_model.hpp"
#include "models/size_selection.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_akima_model {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

TEST_CASE("an Akima model passes through its points and is constant outside of them") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const AkimaModel model(points);
    REQUIRE(model.kind() == "akima");
    REQUIRE(model.dropped().empty());
    for (const MeasuredPoint& point : points) REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-12));
    for (const double below : {0.0, 1e-9, 0.5 * points.front().units}) {
      REQUIRE_THAT(model.speed(below), WithinRel(points.front().speed(), 1e-12));
    }
    for (const double above : {1.5, 1e9}) {
      REQUIRE_THAT(model.speed(above * points.back().units), WithinRel(points.back().speed(), 1e-12));
    }
  }
}

TEST_CASE("an Akima model's speed is positive and finite everywhere, whatever the points") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    Points points = random_points(random, whole(random, 1, 12), 500.0);
    for (MeasuredPoint& point : points) point.time_s *= std::exp(uniform(random, -20.0, 20.0));
    const AkimaModel model(points);
    for (int i = 0; i < 200; ++i) {
      const double speed = model.speed(uniform(random, 0.0, 1200.0));
      REQUIRE(speed > 0.0);
      REQUIRE(std::isfinite(speed));
    }
  }
}

TEST_CASE("an Akima model is smooth at the points between the first and the last") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = random_points(random, whole(random, 4, 20), 500.0);
    const AkimaModel model(points);
    const auto log_speed = [&](double log_units) { return std::log(model.speed(std::exp(log_units))); };
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      const double at = std::log(points[i].units);
      const double gap = std::min(at - std::log(points[i - 1].units), std::log(points[i + 1].units) - at);
      const double step = 1e-5 * gap;
      // One-sided differences of second order.
      const double left =
          (3.0 * log_speed(at) - 4.0 * log_speed(at - step) + log_speed(at - 2.0 * step)) / (2.0 * step);
      const double right =
          (-3.0 * log_speed(at) + 4.0 * log_speed(at + step) - log_speed(at + 2.0 * step)) / (2.0 * step);
      REQUIRE_THAT(left, WithinAbs(right, 1e-4 * (3.0 / gap + std::abs(left)) + 1e-13 / step));
    }
  }
}

TEST_CASE("what units and seconds are measured in does not change an Akima model") {
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Points points = random_points(random, whole(random, 1, 15), 500.0);
    const double units_scale = std::exp(uniform(random, -10.0, 10.0));
    const double time_scale = std::exp(uniform(random, -10.0, 10.0));
    Points scaled = points;
    for (MeasuredPoint& point : scaled) {
      point.units *= units_scale;
      point.time_s *= time_scale;
    }
    const AkimaModel model(points), other(scaled);
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 0.1, 1000.0);
      REQUIRE_THAT(other.time_s(units * units_scale), WithinRel(model.time_s(units) * time_scale, 1e-9));
    }
  }
}

TEST_CASE("a power of the size is reproduced exactly by an Akima model, with any number of points") {
  Random random(5);
  for (int count = 1; count <= 12; ++count) {
    const double power = uniform(random, -0.9, 0.9);
    const auto speed = [&](double units) { return 30.0 * std::pow(units, power); };
    Points points = random_points(random, count, 500.0);
    for (MeasuredPoint& point : points) point.time_s = point.units / speed(point.units);
    const AkimaModel model(points);
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, points.front().units, points.back().units);
      REQUIRE_THAT(model.speed(units), WithinRel(speed(units), 1e-9));
    }
  }
}

TEST_CASE("a smooth speed is followed at fourth order or nearly so: twice the points, an eighth of the error") {
  const auto speed = [](double units) { return 300.0 - 100.0 * std::tanh(std::log(units / 300.0)); };
  const auto largest_error = [&](int count) {
    Points points;
    for (int i = 0; i < count; ++i) {
      const double units = 10.0 * std::pow(1000.0, static_cast<double>(i) / (count - 1));
      points.push_back({units, units / speed(units)});
    }
    const AkimaModel model(points);
    double largest = 0.0;
    // Akima's derivatives at the ends rest on extrapolation.
    for (double units = 30.0; units < 3000.0; units *= 1.001) {
      largest = std::max(largest, std::abs(model.speed(units) / speed(units) - 1.0));
    }
    return largest;
  };
  CHECK(largest_error(80) < largest_error(20) / 16.0);
  CHECK(largest_error(80) < 1e-4);
}

TEST_CASE("one wild point disturbs an Akima model only near it") {
  Points points;
  for (int i = 0; i < 20; ++i) points.push_back({std::exp2(i), std::exp2(i) / 100.0});
  points[10].time_s *= 5.0;
  const AkimaModel model(points);
  for (double units = 1.0; units < std::exp2(19); units *= 1.1) {
    if (units < std::exp2(7) || units > std::exp2(13)) REQUIRE_THAT(model.speed(units), WithinRel(100.0, 1e-9));
  }
}

}  // namespace steelyard::test_akima_model
