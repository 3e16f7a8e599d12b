#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_interpolating_kinds {

using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool same(const MeasuredPoint& a, const MeasuredPoint& b) { return a.units == b.units && a.time_s == b.time_s; }

/// Linear between points, constant outside of them.
double interpolated_speed(const Points& points, double units) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const MeasuredPoint &a = points[i - 1], &b = points[i];
    if (units < a.units || units > b.units) continue;
    return ((b.units - units) * a.speed() + (units - a.units) * b.speed()) / (b.units - a.units);
  }
  return units < points.front().units ? points.front().speed() : points.back().speed();
}

}  // namespace

TEST_CASE("a piecewise linear speed is linear between the points in its shape and constant outside of them") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const std::vector<bool> keep = points_in_shape(points, shape);
    Points kept, dropped;
    for (std::size_t i = 0; i < points.size(); ++i) (keep[i] ? kept : dropped).push_back(points[i]);
    const PiecewiseLinearModel model(points, shape);
    REQUIRE(std::ranges::equal(model.dropped(), dropped, same));
    for (const MeasuredPoint& point : kept) REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-12));
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 0.0, 1200.0);
      REQUIRE_THAT(model.speed(units), WithinRel(interpolated_speed(kept, units), 1e-10));
    }
  }
  CHECK(PiecewiseLinearModel(Points{{2.0, 2.0}, {3.0, 1.0}}).dropped().size() == 1);  // unless told otherwise
}

TEST_CASE("units within a time are a number even where two times are neighbours in floating point") {
  Random random(6);
  for (int trial = 0; trial < 20000; ++trial) {
    Points points(2);
    points[0] = {uniform(random, 1.0, 100.0), uniform(random, 0.1, 10.0), 1, 0.0};
    points[1] = {points[0].units + uniform(random, 0.1, 100.0), points[0].time_s, 1, 0.0};
    for (int i = whole(random, 1, 3); i > 0; --i) points[1].time_s = std::nextafter(points[1].time_s, infinity);
    const PiecewiseLinearModel model(points);
    REQUIRE(model.dropped().empty());
    const double units = model.units_within(points[0].time_s);
    REQUIRE(units >= points[0].units * (1.0 - 1e-12));
    REQUIRE(units <= points[1].units);
  }
}

TEST_CASE("an Akima model passes through its points, is constant outside of them, positive and finite") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = random_points(random, whole(random, 1, 20), 500.0);
    if (trial % 2 == 0) {
      for (MeasuredPoint& point : points) point.time_s *= std::exp(uniform(random, -20.0, 20.0));
    }
    const AkimaModel model(points);
    for (const MeasuredPoint& point : points) REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-12));
    for (const double below : {0.0, 1e-9, 0.5 * points.front().units}) {
      REQUIRE_THAT(model.speed(below), WithinRel(points.front().speed(), 1e-12));
    }
    for (const double above : {1.5, 1e9}) {
      REQUIRE_THAT(model.speed(above * points.back().units), WithinRel(points.back().speed(), 1e-12));
    }
    for (int i = 0; i < 100; ++i) {
      const double speed = model.speed(uniform(random, 0.0, 1200.0));
      REQUIRE(speed > 0.0);
      REQUIRE(std::isfinite(speed));
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

TEST_CASE("a smooth speed is followed by an Akima model at fourth order or nearly so") {
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

TEST_CASE("a table knows its sizes up to its limit, and nothing between, before or after them") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const double limit = trial % 3 == 0   ? points[points.size() / 2].units
                         : trial % 3 == 1 ? uniform(random, points.front().units, 1.2 * points.back().units)
                                          : infinity;
    const TableModel model(points, limit);
    REQUIRE(model.time_s(0.0) == 0.0);
    double largest = 0.0;
    for (const MeasuredPoint& point : points) {
      if (point.units <= limit) largest = point.units;
      REQUIRE_THAT(model.time_s(point.units), WithinRel(point.units <= limit ? point.time_s : infinity, 1e-15));
      for (const double near : {std::nextafter(point.units, 0.0), std::nextafter(point.units, infinity)}) {
        REQUIRE(model.speed(near) == 0.0);
        REQUIRE(model.time_s(near) == infinity);
      }
    }
    REQUIRE(model.max_units() == largest);
    for (int i = 0; i < 20; ++i) {
      const double time_s = uniform(random, 0.0, 2.0 * points.back().time_s);
      double expected = 0.0;
      for (const MeasuredPoint& point : points) {
        if (point.time_s <= time_s && point.units <= limit) expected = point.units;
      }
      REQUIRE(model.units_within(time_s) == expected);
    }
  }
}

TEST_CASE("a table's limit is above its first size") {
  CHECK_THROWS_MATCHES(TableModel(Points{{10.5, 1.0}, {20.0, 2.0}}, 7.25), InvalidArgument,
                       MessageMatches(ContainsSubstring("10.5") && ContainsSubstring("7.25")));
}

}  // namespace steelyard::test_interpolating_kinds
