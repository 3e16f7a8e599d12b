#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>

#include "models/kinds/saturating_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_least_squares {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;

namespace {

/// Deviations of an exponential p0 exp(p1 t) + p2 from values at t = 0, 0.1, ….
Residuals decay(const std::vector<double>& values) {
  return [&values](std::span<const double> p, std::span<double> residuals) {
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      residuals[i] = p[0] * std::exp(p[1] * 0.1 * static_cast<double>(i)) + p[2] - values[i];
    }
  };
}

}  // namespace

TEST_CASE("the sum of squares is that of the residuals") {
  const Residuals residuals = [](std::span<const double> p, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = p[0] * static_cast<double>(i + 1);
  };
  const std::vector<double> at{2.0};
  CHECK(sum_of_squares(residuals, at, 3) == 4.0 + 16.0 + 36.0);
  CHECK(sum_of_squares(residuals, at, 0) == 0.0);
}

TEST_CASE("parameters of residuals that can vanish are found from a start nearby") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const double p0 = uniform(random, 1.0, 5.0), p1 = uniform(random, -2.0, -0.5), p2 = uniform(random, -1.0, 1.0);
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(p0 * std::exp(p1 * 0.1 * i) + p2);
    const auto found = fit_least_squares(decay(values), {1.5 * p0, 0.7 * p1, p2 + 0.3}, 30);
    REQUIRE(found.size() == 3);
    REQUIRE_THAT(found[0], WithinRel(p0, 1e-5));
    REQUIRE_THAT(found[1], WithinRel(p1, 1e-5));
    REQUIRE_THAT(found[2], WithinAbs(p2, 1e-5));
  }
}

TEST_CASE("of residuals that are linear the least squares are those of the normal equations") {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> y;
    double sum = 0.0, moment = 0.0;
    for (int i = 0; i < 11; ++i) {
      y.push_back(uniform(random, -5.0, 5.0));
      sum += y.back();
      moment += (i - 5) * y.back();
    }
    const Residuals line = [&](std::span<const double> p, std::span<double> residuals) {
      for (std::size_t i = 0; i < residuals.size(); ++i) {
        residuals[i] = p[0] + p[1] * (static_cast<double>(i) - 5.0) - y[i];
      }
    };
    const auto found = fit_least_squares(line, {10.0, -10.0}, 11);
    REQUIRE_THAT(found[0], WithinAbs(sum / 11.0, 1e-6));
    REQUIRE_THAT(found[1], WithinAbs(moment / 110.0, 1e-6));
  }
}

TEST_CASE("Rosenbrock's valley is followed to its end") {
  const Residuals valley = [](std::span<const double> p, std::span<double> residuals) {
    residuals[0] = 10.0 * (p[1] - p[0] * p[0]);
    residuals[1] = 1.0 - p[0];
  };
  const auto found = fit_least_squares(valley, {-1.2, 1.0}, 2);
  CHECK_THAT(found[0], WithinRel(1.0, 1e-5));
  CHECK_THAT(found[1], WithinRel(1.0, 1e-5));
}

TEST_CASE("a fit is never worse than its start") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 10; ++i) values.push_back(uniform(random, -100.0, 100.0));
    const std::vector<double> start{uniform(random, -100.0, 100.0), uniform(random, -50.0, 50.0),
                                    uniform(random, -100.0, 100.0)};
    const Residuals residuals = decay(values);
    const auto found = fit_least_squares(residuals, start, 10);
    REQUIRE(sum_of_squares(residuals, found, 10) <= sum_of_squares(residuals, start, 10));
  }
}

TEST_CASE("with fewer residuals than parameters, or none that mean anything, the start is returned") {
  const std::vector<double> start{1.0, 2.0, 3.0};
  const std::vector<double> values{1.0, 2.0};
  CHECK(fit_least_squares(decay(values), start, 2) == start);
  const Residuals nothing = [](std::span<const double>, std::span<double> residuals) {
    for (double& residual : residuals) residual = std::numeric_limits<double>::quiet_NaN();
  };
  CHECK(fit_least_squares(nothing, start, 5) == start);
  // Fine at the start alone.
  const Residuals cliff = [&](std::span<const double> p, std::span<double> residuals) {
    for (double& residual : residuals) residual = p[0] == 1.0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  };
  CHECK(fit_least_squares(cliff, start, 5)[0] == 1.0);
}

}  // namespace steelyard::test_least_squares
