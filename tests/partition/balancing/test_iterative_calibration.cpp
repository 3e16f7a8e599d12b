#include "partition/balancing/calibration.hpp"
#include "tests/catch.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_iterative_calibration {

using namespace steelyard::partition;
using tests::constant_units;
using tests::Random;
using tests::sum;
using tests::SyntheticUnits;
using tests::uniform;
using tests::whole;
using Slices = std::vector<std::int64_t>;

namespace {

ThroughputOptions exact() {
  ThroughputOptions options;
  options.eps = 0.0;
  return options;
}

}  // namespace

TEST_CASE("constant speeds are balanced in one step") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticUnits units;
    for (int i = whole(random, 2, 6); i > 0; --i) {
      units.add(std::make_unique<models::ConstantModel>(std::exp(uniform(random, 0.0, 3.0))));
    }
    const Outcome outcome = throughput_balance(10000, units.models.size(), units.measure(), exact());
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.least_makespan_s(10000) * (1.0 + 1e-12));
    REQUIRE(outcome.measurements <= 2);
  }
}

TEST_CASE("calibration repeated ends at the true balance where one step does not") {
  Random random(3);
  int better = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const SyntheticUnits units = tests::cached_units(random, whole(random, 2, 6), 10000.0);
    const Outcome once = throughput_balance(10000, units.models.size(), units.measure(), exact());
    const Outcome outcome = iterative_calibration(10000, units.models.size(), units.measure(), exact());
    INFO("trial " << trial << ", " << to_string(outcome.reason) << ", " << outcome.measurements);
    const double makespan_s = units.makespan_s(outcome.distribution.units);
    REQUIRE(sum(outcome.distribution.units) == 10000);
    REQUIRE(makespan_s <= units.least_makespan_s(10000) + 2.0 * units.granularity_s(10000));
    REQUIRE(makespan_s <= units.makespan_s(once.distribution.units));
    better += makespan_s < 0.99 * units.makespan_s(once.distribution.units) ? 1 : 0;
    REQUIRE(outcome.measurements <= 40);
  }
  CHECK(better > 10);
}

TEST_CASE("balance between nodes is never slower than the even start beyond the noise and always ends") {
  const double noise = GENERATE(0.0, 0.05, 0.2);
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = whole(random, 1, 5000);
    SyntheticUnits units = tests::random_units(random, whole(random, 1, 6), total);
    units.noise = noise;
    const double even_s = units.makespan_s(even_slices(total, units.models.size()));
    const Outcome once = throughput_balance(total, units.models.size(), units.measure());
    const Outcome outcome = iterative_calibration(total, units.models.size(), units.measure(), exact());
    for (const Outcome& each : {once, outcome}) {
      REQUIRE(sum(each.distribution.units) == total);
      REQUIRE(units.makespan_s(each.distribution.units) <= even_s * (1.0 + 3.0 * noise));
    }
    REQUIRE(once.measurements <= 10);
    REQUIRE(outcome.measurements <= 100);
  }
}

TEST_CASE("a step that turns out slower is taken back, or halved until it is faster") {
  SyntheticUnits units;
  units.add(std::make_unique<tests::TrueSpeed>([](double x) { return x <= 60.0 ? 100.0 : 1.0; }));
  units.add(std::make_unique<models::ConstantModel>(10.0));
  const Outcome once = throughput_balance(100, 2, units.measure(), exact());
  CHECK(once.distribution.units == Slices{50, 50});
  CHECK(once.reason == StopReason::no_improvement);
  CHECK(once.measurements == 2);
  const Outcome outcome = iterative_calibration(100, 2, units.measure(), exact());
  CHECK(outcome.distribution.units == Slices{60, 40});
  CHECK(outcome.reason == StopReason::no_improvement);
}

TEST_CASE("equal nodes keep the even start when only noise tells them apart") {
  int moved = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticUnits units = constant_units({10.0, 10.0});
    units.noise = 0.05;
    units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = throughput_balance(16384, 2, units.measure());
    moved += outcome.distribution.units == Slices{8192, 8192} ? 0 : 1;
  }
  CHECK(moved <= 5);
}

TEST_CASE("calibration stops when differences are within the spread, and at its limit") {
  const auto measure = [](std::span<const std::int64_t> slices) {
    std::vector<models::MeasuredPoint> points;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      points.push_back({static_cast<double>(slices[i]), 1.0 + 0.01 * static_cast<double>(i), 5, 0.2});
    }
    return points;
  };
  const Outcome still = iterative_calibration(99, 3, measure);
  CHECK(still.reason == StopReason::within_spread);
  CHECK(still.distribution.units == Slices{33, 33, 33});
  CHECK(still.measurements == 5);
  Random random(6);
  const SyntheticUnits units = tests::cached_units(random, 4, 1000.0);
  ThroughputOptions options = exact();
  options.repetition.most_measurements = 2;
  const Outcome limited = iterative_calibration(1000, 4, units.measure(), options);
  CHECK(limited.reason == StopReason::measurement_limit);
  CHECK(limited.measurements == 2);
  CHECK(iterative_calibration(0, 2, units.measure()).distribution.units == Slices{0, 0});
}

}  // namespace steelyard::test_iterative_calibration
