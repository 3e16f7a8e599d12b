#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "models/kinds/polynomial_model.hpp"
#include "models/kinds/shrunk_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_shrunk_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr int count = 40;

/// Of a normal distribution with variance 1.
double normal(Random& random) { return std::normal_distribution<double>()(random); }

/// Points of a smooth speed, measured with normal deviations of this size as shares of the speed, which is what the
/// intervals say.
Points measured(Random& random, double noise) {
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = 10.0 * i;
    const double time_s = units / ((100.0 + 0.1 * units) * (1.0 + noise * normal(random)));
    points.push_back({units, time_s, 10, 1.96 * noise * time_s});
  }
  return points;
}

}  // namespace

TEST_CASE("points without intervals stay where they are") {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    Points points = random_points(random, whole(random, 2, 20), 1000.0);
    for (MeasuredPoint& point : points) point.confidence_s = 0.0;
    const ShrunkModel shrunk(points);
    for (const MeasuredPoint& point : points) {
      REQUIRE_THAT(shrunk.speed(point.units), WithinRel(point.speed(), 1e-9));
    }
  }
}

TEST_CASE("a single point has nothing to be drawn to") {
  CHECK_THAT(ShrunkModel(Points{{10.0, 0.1, 5, 0.05}}).time_s(10.0), WithinRel(0.1, 1e-12));
}

TEST_CASE("deviations that the intervals explain are left out: the smooth function is all that remains") {
  Random random(2);
  int deviating = 0, tables = 0;
  constexpr int trials = 100;
  for (int trial = 0; trial < trials; ++trial) {
    const Points points = measured(random, 0.05);
    const ShrunkModel shrunk(points);
    deviating += shrunk.deviating();
    if (shrunk.deviating() > 0) continue;
    ++tables;
    const PolynomialModel smooth(points);
    for (int i = 0; i < 20; ++i) {
      const double units = uniform(random, 1.0, 500.0);
      REQUIRE(shrunk.speed(units) == smooth.speed(units));
      const double time_s = smooth.time_s(units);
      REQUIRE_THAT(shrunk.units_within(time_s), WithinRel(smooth.units_within(time_s), 1e-9));
    }
  }
  // A normal deviation exceeds sqrt(2 ln 40) with a probability of 0.66 %: one of 40 does in 23 % of the tables.
  CHECK(tables > 0.65 * trials);
  CHECK(deviating < 0.012 * trials * count);
}

TEST_CASE("a deviation that is larger than noise is kept, but for what noise may have added, and only near its size") {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    Points points = measured(random, 0.02);
    const auto slow = static_cast<std::size_t>(whole(random, 1, count - 2));
    points[slow].time_s *= 1.5;
    points[slow].confidence_s *= 1.5;
    const ShrunkModel shrunk(points);
    const PolynomialModel smooth(points);
    const double units = points[slow].units;
    const double deviation = points[slow].speed() / smooth.speed(units) - 1.0;
    const double kept = shrunk.speed(units) / smooth.speed(units) - 1.0;
    CAPTURE(deviation, kept);
    REQUIRE(deviation < -0.2);
    CHECK(std::abs(kept) < std::abs(deviation));
    CHECK_THAT(kept, WithinAbs(deviation, 2.0 * std::log(1.0 * count) * 0.02 * 0.02 / 0.2));
    CHECK_THAT(shrunk.speed(units + 5.0), WithinRel(smooth.speed(units + 5.0) * (1.0 + 0.5 * kept), 0.05));
    CHECK_THAT(shrunk.speed(units + 20.0), WithinRel(smooth.speed(units + 20.0), 0.05));
  }
}

TEST_CASE("a point is drawn the further the less certain it is, and never past the smooth function") {
  Random random(5);
  Points points = measured(random, 0.02);
  double before = 1.0;
  for (const double share : {0.0, 0.01, 0.05, 0.1, 0.3, 1.0}) {
    MeasuredPoint& point = points[count / 2];
    point.time_s = 0.8 * point.units / (100.0 + 0.1 * point.units);
    point.confidence_s = share * point.time_s;
    const double smooth = PolynomialModel(points).speed(point.units);
    const double kept = (ShrunkModel(points).speed(point.units) - smooth) / (point.speed() - smooth);
    INFO("half width " << share << ": " << kept << " of the deviation is left");
    CHECK(kept >= 0.0);
    CHECK(kept <= before + 1e-12);
    before = kept;
  }
  CHECK(before == 0.0);
}

TEST_CASE("an interval that is narrower than most is not trusted more than these") {
  Random random(7);
  Points points = measured(random, 0.05);
  points[count / 2].time_s *= 1.2;
  const double as_others = ShrunkModel(points).speed(points[count / 2].units);
  points[count / 2].confidence_s *= 1e-3;
  CHECK_THAT(ShrunkModel(points).speed(points[count / 2].units), WithinRel(as_others, 1e-3));
}

TEST_CASE("a unit that is slower by a factor has a shrunk model that is slower by it") {
  Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    const Points points = measured(random, 0.03);
    Points slower = points;
    for (MeasuredPoint& point : slower) {
      point.time_s *= 3.0;
      point.confidence_s *= 3.0;
    }
    const ShrunkModel model(points), slow(slower);
    CHECK(slow.deviating() == model.deviating());
    for (const double units : {5.0, 10.0, 123.0, 400.0}) {
      CHECK_THAT(slow.time_s(units), WithinRel(3.0 * model.time_s(units), 1e-9));
    }
  }
}

TEST_CASE("unusable points and limits are refused") {
  CHECK_THROWS_AS(ShrunkModel(Points{}), InvalidArgument);
  CHECK_THROWS_AS(ShrunkModel(Points{{10.0, 0.0}}), InvalidArgument);
  CHECK_THROWS_MATCHES(ShrunkModel(Points{{10.0, 1.0}}, -1.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("-1")));
}

}  // namespace steelyard::test_shrunk_model
