#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <vector>

#include "core/base/errors.hpp"
#include "models/piecewise_linear_model.hpp"
#include "models/polynomial_model.hpp"
#include "models/shrunk_model.hpp"
#include "tests/models/random_models.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using namespace steelyard;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr int count = 40;

/// Points of a smooth speed that has been made rough and then measured; both deviations are uniform with this standard
/// deviation, as shares of the speed. What the intervals say is true.
struct Experiment {
  std::vector<double> true_speeds;
  Points measured;

  Experiment(Random& random, double roughness, double noise) {
    for (int i = 1; i <= count; ++i) {
      const double units = 10.0 * i;
      const double smooth = 100.0 + 0.1 * units;
      true_speeds.push_back(smooth * (1.0 + deviation(random, roughness)));
      const double time_s = units / (true_speeds.back() * (1.0 + deviation(random, noise)));
      measured.push_back({units, time_s, 10, 1.96 * noise * time_s});
    }
  }

  /// Root of the mean square of a model's relative errors at the points.
  double error_of(const SpeedModel& model) const {
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      squares += std::pow(model.speed(measured[k].units) / true_speeds[k] - 1.0, 2);
    }
    return std::sqrt(squares / count);
  }

  static double deviation(Random& random, double share) {
    const double widest = std::sqrt(3.0) * share;
    return uniform(random, -widest, widest);
  }
};

}  // namespace

TEST_CASE("points without intervals stay where they are, with speeds linear in between") {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    Points points = random_points(random, tests::whole(random, 1, 20), 1000.0);
    for (MeasuredPoint& point : points) point.confidence_s = 0.0;
    const ShrunkModel shrunk(points);
    const PiecewiseLinearModel linear(points, Shape::as_measured);
    for (int i = 0; i < 20; ++i) {
      const double units = uniform(random, 1e-3, 2000.0);
      REQUIRE(shrunk.speed(units) == linear.speed(units));
      REQUIRE(shrunk.units_within(0.01 * i) == linear.units_within(0.01 * i));
    }
  }
}

TEST_CASE("a single point has nothing to be drawn to") {
  CHECK_THAT(ShrunkModel(Points{{10.0, 0.1, 5, 0.05}}).time_s(10.0), WithinRel(0.1, 1e-12));
}

TEST_CASE("deviations that the intervals explain are taken for noise") {
  Random random(2);
  double measured_error = 0.0, shrunk_error = 0.0, roughness = 0.0;
  constexpr int trials = 50;
  for (int trial = 0; trial < trials; ++trial) {
    const Experiment experiment(random, 0.0, 0.05);
    const ShrunkModel shrunk(experiment.measured);
    measured_error += experiment.error_of(PiecewiseLinearModel(experiment.measured, Shape::as_measured)) / trials;
    shrunk_error += experiment.error_of(shrunk) / trials;
    roughness += shrunk.roughness() / trials;
  }
  CHECK_THAT(measured_error, WithinRel(0.05, 0.1));
  CHECK(shrunk_error < 0.4 * measured_error);
  CHECK(roughness < 0.015);
}

TEST_CASE("deviations that are larger than the intervals are kept, and their size is found") {
  Random random(3);
  const double roughness = 0.1;
  double found = 0.0;
  constexpr int trials = 50;
  for (int trial = 0; trial < trials; ++trial) {
    const Experiment experiment(random, roughness, 0.01);
    const ShrunkModel shrunk(experiment.measured);
    const PolynomialModel smooth(experiment.measured);
    found += shrunk.roughness() / trials;
    for (const MeasuredPoint& point : experiment.measured) {
      const double deviation = point.speed() / smooth.speed(point.units) - 1.0;
      const double kept = shrunk.speed(point.units) / smooth.speed(point.units) - 1.0;
      REQUIRE_THAT(kept, WithinAbs(deviation, 0.05 * std::abs(deviation) + 1e-12));
    }
  }
  CHECK_THAT(found, WithinRel(roughness, 0.1));
}

TEST_CASE(
    "where roughness and noise are alike it is nearer to the truth than the points and than the smooth function") {
  Random random(4);
  double measured_error = 0.0, smooth_error = 0.0, shrunk_error = 0.0;
  for (int trial = 0; trial < 50; ++trial) {
    const Experiment experiment(random, 0.05, 0.05);
    measured_error += experiment.error_of(PiecewiseLinearModel(experiment.measured, Shape::as_measured));
    smooth_error += experiment.error_of(PolynomialModel(experiment.measured));
    shrunk_error += experiment.error_of(ShrunkModel(experiment.measured));
  }
  // The variances of roughness and noise each are v; of the best mixture of both it is v / 2.
  CHECK(shrunk_error < 0.85 * measured_error);
  CHECK(shrunk_error < 0.85 * smooth_error);
}

TEST_CASE("a point is drawn the further the less certain it is, and never past the smooth function") {
  Random random(5);
  Experiment experiment(random, 0.1, 0.05);
  double before = 1.0;
  for (const double share : {0.0, 0.01, 0.05, 0.1, 0.3, 1.0}) {
    MeasuredPoint& point = experiment.measured[count / 2];
    point.time_s = 0.8 * point.units / (100.0 + 0.1 * point.units);
    point.confidence_s = share * point.time_s;
    const double smooth = PolynomialModel(experiment.measured).speed(point.units);
    const double kept = (ShrunkModel(experiment.measured).speed(point.units) - smooth) / (point.speed() - smooth);
    INFO("half width " << share << ": " << kept << " of the deviation is left");
    CHECK(kept >= 0.0);
    CHECK(kept <= before + 1e-12);
    before = kept;
  }
  CHECK(before < 0.1);
}

TEST_CASE("a unit that is slower by a factor has a shrunk model that is slower by it") {
  Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    const Experiment experiment(random, 0.05, 0.03);
    Points slower = experiment.measured;
    for (MeasuredPoint& point : slower) {
      point.time_s *= 3.0;
      point.confidence_s *= 3.0;
    }
    const ShrunkModel model(experiment.measured), slow(slower);
    CHECK_THAT(slow.roughness(), WithinRel(model.roughness(), 1e-6));
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
