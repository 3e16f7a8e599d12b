#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "models/variation.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_variation {

using Catch::Matchers::WithinRel;
using namespace steelyard::models;

namespace {

/// Speeds at sizes 1, 2, 3, ...
std::vector<MeasuredPoint> points_of(const std::vector<double>& speeds) {
  std::vector<MeasuredPoint> points;
  for (const double speed : speeds) {
    const double units = static_cast<double>(points.size()) + 1.0;
    points.push_back({units, units / speed});
  }
  return points;
}

}  // namespace

TEST_CASE("variation is the largest change between neighbouring extrema over the smaller one") {
  CHECK_THAT(variation(points_of({10, 20, 15, 30, 10, 12})).largest, WithinRel(2.0, 1e-12));  // 30 to 10
  CHECK_THAT(variation(points_of({10, 12, 14, 20})).largest, WithinRel(1.0, 1e-12));          // the ends count
  CHECK(variation(points_of({5, 5, 5})).largest == 0.0);
  CHECK(variation(points_of({5})).largest == 0.0);
  CHECK(variation({}).bands.empty());
}

TEST_CASE("the band lies between the lines through the minima and through the maxima") {
  // Minima 10, 15, 12 at sizes 1, 3, 5; maxima 10, 30, 40, 12 at sizes 1, 2, 4, 5.
  const Variation found = variation(points_of({10, 30, 15, 40, 12}));
  REQUIRE(found.bands.size() == 5);
  CHECK_THAT(found.bands[1].speed_low, WithinRel(12.5, 1e-12));
  CHECK_THAT(found.bands[1].speed_high, WithinRel(30.0, 1e-12));
  CHECK_THAT(found.bands[2].speed_high, WithinRel(35.0, 1e-12));
  CHECK_THAT(found.bands[3].speed_low, WithinRel(13.5, 1e-12));
  CHECK_THAT(found.widest, WithinRel(40.0 / 13.5 - 1.0, 1e-12));
}

TEST_CASE("no measured extremum is outside the band") {
  tests::Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> speeds;
    for (int i = tests::whole(random, 2, 30); i > 0; --i) speeds.push_back(tests::uniform(random, 1.0, 10.0));
    const std::vector<MeasuredPoint> points = points_of(speeds);
    const Variation found = variation(points);
    REQUIRE(found.bands.size() == points.size());
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      const bool extremum = (speeds[i] - speeds[i - 1]) * (speeds[i + 1] - speeds[i]) < 0.0;
      if (!extremum) continue;
      REQUIRE(found.bands[i].speed_low <= points[i].speed() * (1.0 + 1e-12));
      REQUIRE(found.bands[i].speed_high >= points[i].speed() * (1.0 - 1e-12));
    }
  }
}

}  // namespace steelyard::test_variation
