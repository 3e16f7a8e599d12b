// Shapes that points are kept in, and models that pass through their points.
#include "models/kinds/model_kinds.hpp"
#include "models/shape.hpp"
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

bool time_grows(const Points& points) {
  const auto no_longer = [](const MeasuredPoint& a, const MeasuredPoint& b) { return b.time_s <= a.time_s; };
  return std::ranges::adjacent_find(points, no_longer) == points.end();
}

bool satisfies(const Points& points, Shape shape) { return shape == Shape::as_measured || time_grows(points); }

Points chosen(const Points& points, const std::vector<bool>& keep, bool kept = true) {
  Points some;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (keep[i] == kept) some.push_back(points[i]);
  }
  return some;
}

/// The most points that satisfy a shape, by trying every subset.
std::size_t most_kept(const Points& points, Shape shape) {
  std::size_t most = 0;
  std::vector<bool> keep(points.size());
  for (unsigned subset = 1; subset < (1U << points.size()); ++subset) {
    for (std::size_t i = 0; i < points.size(); ++i) keep[i] = (subset >> i & 1U) != 0U;
    const Points kept = chosen(points, keep);
    if (kept.size() > most && satisfies(kept, shape)) most = kept.size();
  }
  return most;
}

/// Points whose speeds are wild, nearly in shape, few different ones, or on a rising straight line but for rounding.
Points test_points(Random& random, int trial) {
  Points points = random_points(random, whole(random, 1, 10), 100.0);
  const double start = uniform(random, 10.0, 1000.0), slope = uniform(random, 0.001, 10.0);
  for (MeasuredPoint& point : points) {
    const double shaped = 10.0 + 40.0 * std::sin(point.units / 40.0);
    if (trial % 4 == 1) point.time_s = point.units / (std::max(5.0, shaped) * uniform(random, 0.9, 1.1));
    // Whole sizes and powers of two, so that equal speeds, times and slopes are exactly so.
    if (trial % 4 == 2) point.units = std::ceil(point.units) + (&point - points.data());
    if (trial % 4 == 2) point.time_s = point.units / std::ldexp(1.0, whole(random, 0, 3));
    if (trial % 4 == 3) point.time_s = point.units / (start + slope * point.units);
  }
  return points;
}

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

TEST_CASE("points that are kept satisfy the restriction on the shape, and no other choice has more of them") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time);
  for (int trial = 0; trial < 800; ++trial) {
    const bool is_small = trial % 2 == 0;
    const Points points = is_small ? test_points(random, trial / 2) : random_points(random, 40, 100.0);
    const std::vector<bool> keep = points_in_shape(points, shape);
    const Points kept = chosen(points, keep);
    REQUIRE(satisfies(kept, shape));
    if (is_small) REQUIRE(kept.size() == most_kept(points, shape));
  }
}

TEST_CASE("variation and its band are those of the lines through the extrema, of which the ends are two") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = random_points(random, whole(random, 1, 30), 100.0);
    for (MeasuredPoint& point : points) point.time_s = point.units / uniform(random, 1.0, 10.0);
    std::vector<double> extrema{points.front().speed()};
    std::vector<std::size_t> minima{0}, maxima{0};
    for (std::size_t i = 1; i < points.size(); ++i) {
      const bool is_last = i + 1 == points.size();
      const double rise = points[i].speed() - points[i - 1].speed();
      const double rise_after = is_last ? 0.0 : points[i + 1].speed() - points[i].speed();
      if (is_last || (rise < 0.0 && rise_after > 0.0)) minima.push_back(i);
      if (is_last || (rise > 0.0 && rise_after < 0.0)) maxima.push_back(i);
      if (is_last || rise * rise_after < 0.0) extrema.push_back(points[i].speed());
    }
    double largest = 0.0, widest = 0.0;
    for (std::size_t i = 1; i < extrema.size(); ++i) {
      largest = std::max(largest, std::abs(extrema[i] - extrema[i - 1]) / std::min(extrema[i], extrema[i - 1]));
    }
    const Variation found = variation(points);
    REQUIRE(found.bands.size() == points.size());
    const auto line = [&](const std::vector<std::size_t>& through, std::size_t i) {
      const auto right = std::lower_bound(through.begin(), through.end(), i);
      const MeasuredPoint &b = points[*right], &a = points[right == through.begin() ? *right : *(right - 1)];
      const double gap = b.units - a.units;
      return gap > 0.0 ? a.speed() + (points[i].units - a.units) / gap * (b.speed() - a.speed()) : b.speed();
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double low = std::min(line(minima, i), line(maxima, i)), high = std::max(line(minima, i), line(maxima, i));
      REQUIRE(found.bands[i].units == points[i].units);
      REQUIRE_THAT(found.bands[i].speed_low, WithinRel(low, 1e-12));
      REQUIRE_THAT(found.bands[i].speed_high, WithinRel(high, 1e-12));
      widest = std::max(widest, high / low - 1.0);
    }
    REQUIRE_THAT(found.largest, WithinRel(largest, 1e-12));
    REQUIRE_THAT(found.widest + 1.0, WithinRel(widest + 1.0, 1e-12));
  }
  CHECK(variation({}).bands.empty());
}

TEST_CASE("a piecewise linear speed is linear between the points in its shape and constant outside of them") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const std::vector<bool> keep = points_in_shape(points, shape);
    const Points kept = chosen(points, keep);
    const PiecewiseLinearModel model(points, shape);
    const Points dropped = chosen(points, keep, false);
    REQUIRE(std::ranges::equal(model.dropped(), dropped, {}, &MeasuredPoint::units, &MeasuredPoint::units));
    for (const MeasuredPoint& point : kept) REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-12));
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 0.0, 1200.0);
      REQUIRE_THAT(model.speed(units), WithinRel(interpolated_speed(kept, units), 1e-10));
    }
  }
  CHECK(PiecewiseLinearModel(Points{{2.0, 2.0}, {3.0, 1.0}}).dropped().size() == 1);  // unless told otherwise
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
      REQUIRE((speed > 0.0 && speed < infinity));
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
    REQUIRE(model.units_within(infinity) == largest);
    for (int i = 0; i < 20; ++i) {
      const double time_s = uniform(random, 0.0, 2.0 * points.back().time_s);
      double expected = 0.0;
      for (const MeasuredPoint& point : points) {
        if (point.time_s <= time_s && point.units <= limit) expected = point.units;
      }
      REQUIRE(model.units_within(time_s) == expected);
    }
  }
  CHECK_THROWS_MATCHES(TableModel(Points{{10.5, 1.0}, {20.0, 2.0}}, 7.25), InvalidArgument,
                       MessageMatches(ContainsSubstring("10.5") && ContainsSubstring("7.25")));
}

}  // namespace steelyard::test_interpolating_kinds
