#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/shape.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_shape {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

bool time_grows(const Points& points) {
  return std::adjacent_find(points.begin(), points.end(), [](const MeasuredPoint& a, const MeasuredPoint& b) {
           return b.time_s <= a.time_s;
         }) == points.end();
}

/// Whether speed grows along a concave curve up to points[peak] and never grows after it, up to rounding.
bool peaks_at(const Points& points, std::size_t peak) {
  constexpr double rounding = 1e-12;
  double steepest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < peak; ++i) {
    const double gap = points[i + 1].units - points[i].units;
    const double slope = (points[i + 1].speed() - points[i].speed()) / gap;
    const double uncertainty = rounding * points[i + 1].speed() / gap;
    if (!(slope > 0.0 && slope - uncertainty <= steepest)) return false;
    steepest = slope + uncertainty;
  }
  for (std::size_t i = peak; i + 1 < points.size(); ++i) {
    if (points[i + 1].speed() > points[i].speed() * (1.0 + rounding)) return false;
  }
  return true;
}

bool satisfies(const Points& points, Shape shape) {
  if (shape == Shape::as_measured) return true;
  if (!time_grows(points)) return false;
  if (shape == Shape::increasing_time) return true;
  for (std::size_t peak = 0; peak < points.size(); ++peak) {
    if (peaks_at(points, peak)) return true;
  }
  return false;
}

Points chosen(const Points& points, const std::vector<bool>& keep) {
  Points kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (keep[i]) kept.push_back(points[i]);
  }
  return kept;
}

/// The most points that satisfy a shape, by trying every subset.
std::size_t most_kept(const Points& points, Shape shape) {
  std::size_t most = 0;
  for (unsigned subset = 1; subset < (1U << points.size()); ++subset) {
    Points kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1U) != 0U) kept.push_back(points[i]);
    }
    if (kept.size() > most && satisfies(kept, shape)) most = kept.size();
  }
  return most;
}

/// Points whose speeds are wild, nearly in shape, or few different ones.
Points test_points(Random& random, int trial) {
  Points points = tests::random_points(random, whole(random, 1, 10), 100.0);
  for (MeasuredPoint& point : points) {
    const double shaped = 10.0 + 40.0 * std::sin(point.units / 40.0);
    if (trial % 3 == 1) point.time_s = point.units / (std::max(5.0, shaped) * uniform(random, 0.9, 1.1));
    // Whole sizes and powers of two, so that equal speeds, times and slopes are exactly so.
    if (trial % 3 == 2) point.units = std::ceil(point.units) + (&point - points.data());
    if (trial % 3 == 2) point.time_s = point.units / std::ldexp(1.0, whole(random, 0, 3));
  }
  return points;
}

}  // namespace

TEST_CASE("points that are kept satisfy the restriction on the shape") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 600; ++trial) {
    Points points = trial % 2 == 0 ? test_points(random, trial) : tests::random_points(random, 40, 100.0);
    const std::vector<bool> keep = points_in_shape(points, shape);
    REQUIRE(keep.size() == points.size());
    REQUIRE(satisfies(chosen(points, keep), shape));
  }
}

TEST_CASE("no choice of points in shape has more of them") {
  Random random(2);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = test_points(random, trial);
    const std::vector<bool> keep = points_in_shape(points, shape);
    REQUIRE(static_cast<std::size_t>(std::count(keep.begin(), keep.end(), true)) == most_kept(points, shape));
  }
}

TEST_CASE("points that are in shape are all kept") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    // Rising along a root and falling along a hyperbola, flat in between.
    const double peak = uniform(random, 1.0, 100.0);
    Points points = tests::random_points(random, whole(random, 1, 40), 100.0);
    for (MeasuredPoint& point : points) {
      const double speed = point.units < peak         ? std::sqrt(point.units / peak)
                           : point.units < 1.2 * peak ? 1.0
                                                      : 1.2 * peak / point.units;
      // The hyperbola itself would make the times equal.
      point.time_s = point.units / (7.0 * (0.5 + speed));
    }
    for (const Shape shape : {Shape::as_measured, Shape::increasing_time, Shape::unimodal}) {
      const std::vector<bool> keep = points_in_shape(points, shape);
      REQUIRE(std::count(keep.begin(), keep.end(), false) == 0);
    }
  }
}

TEST_CASE("speeds on a rising straight line are concave, however they are rounded") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const double start = uniform(random, 10.0, 1000.0), slope = uniform(random, 0.001, 10.0);
    Points points = tests::random_points(random, 30, 100.0);
    for (MeasuredPoint& point : points) point.time_s = point.units / (start + slope * point.units);
    const std::vector<bool> keep = points_in_shape(points, Shape::unimodal);
    REQUIRE(std::count(keep.begin(), keep.end(), false) == 0);
  }
}

TEST_CASE("a single slow run in a rising speed is dropped and nothing else") {
  Points points;
  for (int i = 1; i <= 20; ++i) points.push_back({10.0 * i, 10.0 * i / (100.0 * std::sqrt(i))});
  points[7].time_s *= 3.0;
  for (const Shape shape : {Shape::increasing_time, Shape::unimodal}) {
    const std::vector<bool> keep = points_in_shape(points, shape);
    CHECK_FALSE(keep[7]);
    CHECK(std::count(keep.begin(), keep.end(), false) == 1);
  }
}

TEST_CASE("shapes have the names that users type, and another name is refused with the choices") {
  CHECK(parse_shape("as_measured") == Shape::as_measured);
  CHECK(parse_shape("increasing_time") == Shape::increasing_time);
  CHECK(parse_shape("unimodal") == Shape::unimodal);
  for (const char* bad : {"", "Unimodal", "unimodal "}) {
    CHECK_THROWS_MATCHES(
        parse_shape(bad), InvalidArgument,
        MessageMatches(ContainsSubstring(std::string("\"") + bad + "\"") && ContainsSubstring("as_measured") &&
                       ContainsSubstring("increasing_time") && ContainsSubstring("unimodal")));
  }
}

TEST_CASE("the largest unimodal choice of a thousand points is found in seconds") {
  Random random(5);
  Points points = tests::random_points(random, 1000, 1000.0);
  if (GENERATE(false, true)) {
    for (MeasuredPoint& point : points) point.time_s = point.units / (10.0 + std::sqrt(point.units));
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<bool> keep = points_in_shape(points, Shape::unimodal);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(satisfies(chosen(points, keep), Shape::unimodal));
  CHECK(seconds.count() < 10.0);  // far more than that, so that a sanitizer may look
}

}  // namespace steelyard::test_shape
