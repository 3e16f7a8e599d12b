#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/base/errors.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_piecewise_linear_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool same(const MeasuredPoint& a, const MeasuredPoint& b) { return a.units == b.units && a.time_s == b.time_s; }

/// The most points that can be kept so that times strictly grow, by trying every subset.
std::size_t most_kept(const Points& points) {
  std::size_t most = 0;
  for (unsigned subset = 1; subset < (1U << points.size()); ++subset) {
    std::size_t kept = 0;
    double before = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1U) == 0U) continue;
      if (points[i].time_s <= before) {
        kept = 0;
        break;
      }
      before = points[i].time_s;
      ++kept;
    }
    most = std::max(most, kept);
  }
  return most;
}

}  // namespace

TEST_CASE("a piecewise linear model passes through every point that it did not drop") {
  Random random(1);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const PiecewiseLinearModel model(points, shape);
    REQUIRE_FALSE(model.kept().empty());
    for (const MeasuredPoint& point : model.kept()) {
      REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-12));
      REQUIRE_THAT(model.speed(point.units), WithinRel(point.units / point.time_s, 1e-12));
    }
  }
}

TEST_CASE("points kept and points dropped are together the points given and in order") {
  Random random(2);
  const Shape shape = GENERATE(Shape::as_measured, Shape::increasing_time, Shape::unimodal);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const PiecewiseLinearModel model(points, shape);
    Points all(model.kept().begin(), model.kept().end());
    all.insert(all.end(), model.dropped().begin(), model.dropped().end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.units < b.units; });
    REQUIRE(std::equal(all.begin(), all.end(), points.begin(), points.end(), same));
    REQUIRE(std::is_sorted(model.kept().begin(), model.kept().end(),
                           [](const auto& a, const auto& b) { return a.units < b.units; }));
    REQUIRE((shape != Shape::as_measured || model.dropped().empty()));
  }
}

TEST_CASE("as few points are dropped as any choice could") {
  Random random(3);
  for (int trial = 0; trial < 400; ++trial) {
    Points points = random_points(random, whole(random, 1, 10), 500.0);
    if (trial % 2 == 0) {
      for (MeasuredPoint& point : points) point.time_s = whole(random, 1, 6);  // equal times do not grow
    }
    const PiecewiseLinearModel model(points, Shape::increasing_time);
    REQUIRE(model.kept().size() == most_kept(points));
  }
}

TEST_CASE("time strictly grows with size when points are dropped for it") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const PiecewiseLinearModel model(random_points(random, whole(random, 1, 20), 500.0), Shape::increasing_time);
    double before = 0.0;
    for (double units = 0.5; units < 1500.0; units += 0.5) {
      const double time_s = model.time_s(units);
      REQUIRE(time_s > before);
      before = time_s;
    }
  }
}

TEST_CASE("points whose times grow are all kept") {
  Points points = {{1.0, 1.0, 1, 0.0}, {2.0, 1.5, 1, 0.0}, {10.0, 1.6, 1, 0.0}, {11.0, 9.0, 1, 0.0}};
  CHECK(PiecewiseLinearModel(points).dropped().empty());
  points[2].time_s = 1.4;
  CHECK(PiecewiseLinearModel(points).dropped().size() == 1);
  CHECK(PiecewiseLinearModel(points, Shape::as_measured).dropped().empty());
}

TEST_CASE("speed is linear between points and constant outside of them") {
  const Points points = {{10.0, 1.0, 1, 0.0}, {30.0, 1.5, 1, 0.0}};  // 10 and 20 units/s
  const PiecewiseLinearModel model(points);
  CHECK(model.kind() == "piecewise_linear");
  CHECK_THAT(model.speed(20.0), WithinRel(15.0, 1e-14));
  CHECK_THAT(model.speed(15.0), WithinRel(12.5, 1e-14));
  for (const double units : {0.0, 1e-9, 5.0, 10.0}) CHECK_THAT(model.speed(units), WithinRel(10.0, 1e-14));
  for (const double units : {30.0, 31.0, 1e12}) CHECK_THAT(model.speed(units), WithinRel(20.0, 1e-14));
}

TEST_CASE("speed never leaves the range of the points") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Points points = random_points(random, whole(random, 1, 12), 500.0);
    const PiecewiseLinearModel model(points, Shape::as_measured);
    double slowest = infinity, fastest = 0.0;
    for (const MeasuredPoint& point : points) {
      slowest = std::min(slowest, point.units / point.time_s);
      fastest = std::max(fastest, point.units / point.time_s);
    }
    for (int i = 0; i < 50; ++i) {
      const double speed = model.speed(uniform(random, 0.0, 1500.0));
      REQUIRE(speed >= slowest * (1.0 - 1e-12));
      REQUIRE(speed <= fastest * (1.0 + 1e-12));
    }
  }
}

TEST_CASE("one point is a constant model") {
  const PiecewiseLinearModel model(Points{{8.0, 2.0, 1, 0.0}});
  for (const double units : {0.0, 1.0, 8.0, 100.0}) CHECK_THAT(model.speed(units), WithinRel(4.0, 1e-15));
  CHECK_THAT(model.units_within(10.0), WithinRel(40.0, 1e-14));
}

TEST_CASE("units within a time skip a slow size when a larger one is fast again") {
  const Points points = {{1.0, 1.0, 1, 0.0}, {2.0, 5.0, 1, 0.0}, {3.0, 2.0, 1, 0.0}};
  const PiecewiseLinearModel model(points, Shape::as_measured);
  CHECK_THAT(model.units_within(2.0), WithinRel(3.0, 1e-12));
  CHECK_THAT(model.units_within(3.0), WithinRel(4.5, 1e-12));
  CHECK(model.units_within(1.9) < 2.0);
  CHECK_THAT(model.units_within(0.5), WithinRel(0.5, 1e-12));
}

TEST_CASE("a limit before a slow size's end does not let more in than its time allows") {
  const Points points = {{1.0, 1.0, 1, 0.0}, {2.0, 5.0, 1, 0.0}, {3.0, 2.0, 1, 0.0}};
  const PiecewiseLinearModel model(points, Shape::as_measured, 2.0);
  const double units = model.units_within(3.0);
  CHECK(units < 2.0);
  CHECK_THAT(model.time_s(units), WithinRel(3.0, 1e-9));
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

TEST_CASE("beyond its limit a model says that work does not fit") {
  const PiecewiseLinearModel model(Points{{10.0, 1.0, 1, 0.0}}, Shape::increasing_time, 15.0);
  CHECK(model.max_units() == 15.0);
  CHECK(model.units_within(100.0) == 15.0);
  CHECK_THAT(model.time_s(15.0), WithinRel(1.5, 1e-12));
  CHECK(model.fits(15.0));
  CHECK_FALSE(model.fits(15.1));
  CHECK(model.time_s(15.1) == infinity);
  CHECK(model.speed(15.1) == 0.0);
  CHECK(PiecewiseLinearModel(Points{{10.0, 1.0, 1, 0.0}}).max_units() == infinity);
}

TEST_CASE("points that make no model are refused with their values") {
  const auto make = [](const Points& points) { return PiecewiseLinearModel(points); };
  CHECK_THROWS_MATCHES(make({}), InvalidArgument, MessageMatches(ContainsSubstring("no points")));
  CHECK_THROWS_MATCHES(make({{2.0, 1.0, 1, 0.0}, {2.0, 1.5, 1, 0.0}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("point of 2 units after 2")));
  CHECK_THROWS_MATCHES(make({{3.0, 1.0, 1, 0.0}, {2.5, 1.5, 1, 0.0}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("point of 2.5 units after 3")));
  CHECK_THROWS_MATCHES(make({{3.0, -1.5, 1, 0.0}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 units") && ContainsSubstring("-1.5 s")));
  for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(make({{bad, 1.0, 1, 0.0}}), InvalidArgument);
    CHECK_THROWS_AS(make({{1.0, bad, 1, 0.0}}), InvalidArgument);
    CHECK_THROWS_AS(make({{0.5, 0.5, 1, 0.0}, {1.0, bad, 1, 0.0}}), InvalidArgument);
  }
  for (const double limit : {0.0, -4.5, not_a_number}) {
    CHECK_THROWS_AS(PiecewiseLinearModel(Points{{1.0, 1.0, 1, 0.0}}, Shape::as_measured, limit), InvalidArgument);
  }
}

}  // namespace steelyard::test_piecewise_linear_model
