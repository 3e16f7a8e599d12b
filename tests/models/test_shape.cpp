#include "models/shape.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_shape {

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

TEST_CASE("points that are kept satisfy the restriction on the shape, and no other choice has more of them") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 600; ++trial) {
    const bool is_small = trial % 2 == 0;
    const Points points = is_small ? test_points(random, trial / 2) : tests::random_points(random, 40, 100.0);
    const std::vector<bool> keep = points_in_shape(points, shape);
    REQUIRE(keep.size() == points.size());
    const Points kept = chosen(points, keep);
    REQUIRE(satisfies(kept, shape));
    if (is_small) REQUIRE(kept.size() == most_kept(points, shape));
  }
}

TEST_CASE("points that are in shape are all kept, also speeds on a rising straight line, however they are rounded") {
  Random random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const double peak = uniform(random, 1.0, 100.0), slope = uniform(random, 0.001, 10.0);
    const double start = uniform(random, 10.0, 1000.0);
    Points points = tests::random_points(random, whole(random, 1, 40), 100.0);
    for (MeasuredPoint& point : points) {
      // Rising along a root and falling along a hyperbola, flat in between; the hyperbola itself would make the times
      // equal.
      const double speed = point.units < peak         ? std::sqrt(point.units / peak)
                           : point.units < 1.2 * peak ? 1.0
                                                      : 1.2 * peak / point.units;
      point.time_s = point.units / (trial % 2 == 0 ? 7.0 * (0.5 + speed) : start + slope * point.units);
    }
    for (const Shape shape : {Shape::as_measured, Shape::increasing_time, Shape::unimodal}) {
      const std::vector<bool> keep = points_in_shape(points, shape);
      REQUIRE(std::count(keep.begin(), keep.end(), false) == 0);
    }
  }
}

TEST_CASE("variation and its band are those of the lines through the extrema, of which the ends are two") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Points points = tests::random_points(random, whole(random, 1, 30), 100.0);
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
  const Points equal{{1.0, 0.2}, {2.0, 0.4}, {3.0, 0.6}};
  CHECK(variation(equal).largest < 1e-12);
}

}  // namespace steelyard::test_shape
