#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/iterative_calibration.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_throughput_balance {

using namespace steelyard::partition;
using tests::Random;
using tests::SyntheticUnits;
using tests::whole;
using Slices = std::vector<std::int64_t>;

TEST_CASE("slices are proportional to throughput within one computation unit and sum exactly") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t total = whole(random, 0, 100000);
    std::vector<models::MeasuredPoint> points;
    double capacity = 0.0;
    for (int i = whole(random, 1, 8); i > 0; --i) {
      points.push_back({tests::uniform(random, 1.0, 100.0), tests::uniform(random, 0.1, 10.0)});
      capacity += points.back().speed();
    }
    const Distribution shares = proportional_to_throughput(total, points);
    REQUIRE(tests::sum(shares.units) == total);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double ideal = points[i].speed() / capacity * static_cast<double>(total);
      REQUIRE(std::abs(static_cast<double>(shares.units[i]) - ideal) <= static_cast<double>(points.size()));
    }
  }
}

TEST_CASE("a unit without work keeps none, and memory bounds a share") {
  const std::vector<models::MeasuredPoint> points = {{10, 1.0}, {}, {10, 0.5}, {10, 1.0}};
  CHECK(proportional_to_throughput(400, points).units == Slices{100, 0, 200, 100});
  const std::vector<double> limits = {1000.0, 1000.0, 100.0, 1000.0};
  CHECK(proportional_to_throughput(400, points, limits).units == Slices{150, 0, 100, 150});
  CHECK_THROWS_AS(proportional_to_throughput(1, std::vector<models::MeasuredPoint>{{}, {}}), InvalidArgument);
}

TEST_CASE("constant speeds are balanced in one step") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticUnits units;
    for (int i = whole(random, 2, 6); i > 0; --i) {
      units.add(std::make_unique<models::ConstantModel>(std::exp(tests::uniform(random, 0.0, 3.0))));
    }
    ThroughputOptions options;
    options.eps = 0.0;
    const Outcome outcome = throughput_balance(10000, units.models.size(), units.measure(), options);
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.least_makespan_s(10000) * (1.0 + 1e-12));
    REQUIRE(outcome.measurements <= 2);
  }
}

TEST_CASE("balance by throughput is never slower than the even start beyond the noise") {
  const double noise = GENERATE(0.0, 0.05, 0.2);
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = whole(random, 1, 5000);
    SyntheticUnits units = tests::random_units(random, whole(random, 1, 6), total);
    units.noise = noise;
    const Outcome outcome = throughput_balance(total, units.models.size(), units.measure());
    const Slices even = start_or_even(total, units.models.size(), {}, {});
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.makespan_s(even) * (1.0 + 3.0 * noise));
    REQUIRE(outcome.measurements <= 10);
  }
}

TEST_CASE("equal nodes keep the even start when only noise tells them apart") {
  int moved = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticUnits units;
    for (int i = 0; i < 2; ++i) units.add(std::make_unique<models::ConstantModel>(10.0));
    units.noise = 0.05;
    units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = throughput_balance(16384, 2, units.measure());
    moved += outcome.distribution.units == Slices{8192, 8192} ? 0 : 1;
  }
  CHECK(moved <= 5);
}

TEST_CASE("a step that turns out slower is taken back") {
  SyntheticUnits units;
  units.add(std::make_unique<tests::TrueSpeed>([](double x) { return x <= 50.0 ? 100.0 : 1.0; }));
  units.add(std::make_unique<models::ConstantModel>(50.0));
  const Outcome outcome = throughput_balance(100, 2, units.measure());
  CHECK(outcome.distribution.units == Slices{50, 50});
  CHECK(outcome.reason == StopReason::no_improvement);
  CHECK(outcome.measurements == 2);
}

}  // namespace steelyard::test_throughput_balance
