#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/iterative_calibration.hpp"
#include "partition/balancing/slice_search.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_iterative_calibration {

using namespace steelyard::partition;
using tests::Random;
using tests::SyntheticUnits;
using tests::whole;
using Slices = std::vector<std::int64_t>;

namespace {

ThroughputOptions exact() {
  ThroughputOptions options;
  options.eps = 0.0;
  return options;
}

/// Caches: the time grows faster than the size, by up to a factor of three.
SyntheticUnits cached_units(Random& random, int count, double total) {
  SyntheticUnits units;
  for (int i = 0; i < count; ++i) {
    const double a = std::exp(tests::uniform(random, 3.0, 6.0)), drop = tests::uniform(random, 0.0, 2.0);
    const double b = tests::uniform(random, 0.05, 0.5) * total;
    units.add(std::make_unique<tests::TrueSpeed>([=](double x) { return a / (1.0 + drop * x / (x + b)); }));
  }
  return units;
}

}  // namespace

TEST_CASE("calibration repeated ends at the true balance where one step does not") {
  Random random(1);
  int better = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const SyntheticUnits units = cached_units(random, whole(random, 2, 6), 10000.0);
    const Outcome once = throughput_balance(10000, units.models.size(), units.measure(), exact());
    const Outcome outcome = iterative_calibration(10000, units.models.size(), units.measure(), exact());
    INFO("trial " << trial << ", " << to_string(outcome.reason) << ", " << outcome.measurements);
    const double makespan_s = units.makespan_s(outcome.distribution.units);
    REQUIRE(tests::sum(outcome.distribution.units) == 10000);
    REQUIRE(makespan_s <= units.least_makespan_s(10000) + 2.0 * units.granularity_s(10000));
    REQUIRE(makespan_s <= units.makespan_s(once.distribution.units));
    better += makespan_s < 0.99 * units.makespan_s(once.distribution.units) ? 1 : 0;
    REQUIRE(outcome.measurements <= 40);
  }
  CHECK(better > 10);
}

TEST_CASE("calibration is never slower than its start beyond the noise and always ends") {
  const double noise = GENERATE(0.0, 0.05, 0.2);
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = whole(random, 1, 5000);
    SyntheticUnits units = tests::random_units(random, whole(random, 1, 6), total);
    units.noise = noise;
    const Outcome outcome = iterative_calibration(total, units.models.size(), units.measure(), exact());
    const Slices even = start_or_even(total, units.models.size(), {}, {});
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.makespan_s(even) * (1.0 + 3.0 * noise));
    REQUIRE(outcome.measurements <= 100);
  }
}

TEST_CASE("nodes balanced inside at every size are balanced with each other") {
  // Each node: a CPU with a cache and a GPU that only large slices fill; the line between them is searched each time.
  Random random(3);
  std::vector<SyntheticUnits> nodes;
  for (int i = 0; i < 3; ++i) nodes.push_back(tests::random_units(random, 2, 10000));
  const auto measure = [&](std::span<const std::int64_t> slices) {
    std::vector<models::MeasuredPoint> points;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Outcome inside = equal_times_search(slices[i], nodes[i].measure());
      points.push_back({static_cast<double>(slices[i]), inside.distribution.makespan_s()});
    }
    return points;
  };
  const Outcome outcome = iterative_calibration(10000, 3, measure);
  const std::vector<std::int64_t> even = start_or_even(10000, 3, {}, {});
  const auto makespan_s = [&](const std::vector<std::int64_t>& slices) {
    double last_s = 0.0;
    for (const auto& point : measure(slices)) last_s = std::max(last_s, point.time_s);
    return last_s;
  };
  CHECK(makespan_s(outcome.distribution.units) < makespan_s(even));
  CHECK(outcome.distribution.makespan_s() == makespan_s(outcome.distribution.units));
}

TEST_CASE("a step too far is halved until it is faster") {
  SyntheticUnits units;
  units.add(std::make_unique<tests::TrueSpeed>([](double x) { return x <= 60.0 ? 100.0 : 1.0; }));
  units.add(std::make_unique<models::ConstantModel>(10.0));
  const Outcome outcome = iterative_calibration(100, 2, units.measure(), exact());
  CHECK(outcome.distribution.units == Slices{60, 40});
  CHECK(outcome.reason == StopReason::no_improvement);
}

TEST_CASE("halfway lies between two distributions and sums exactly") {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const int count = whole(random, 1, 8);
    Slices from, to;
    for (int i = 0; i < count; ++i) {
      from.push_back(whole(random, 0, 20));
      to.push_back(whole(random, 0, 20));
    }
    const std::int64_t missing = tests::sum(from) - tests::sum(to);
    (missing > 0 ? to : from).back() += std::abs(missing);
    const Slices middle = halfway(from, to);
    REQUIRE(tests::sum(middle) == tests::sum(from));
    for (std::size_t i = 0; i < from.size(); ++i) {
      REQUIRE(middle[i] >= std::min(from[i], to[i]));
      REQUIRE(middle[i] <= std::max(from[i], to[i]));
    }
    REQUIRE((from == to || moved_share(from, middle) < moved_share(from, to)));
  }
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
  Random random(5);
  const SyntheticUnits units = cached_units(random, 4, 1000.0);
  ThroughputOptions options = exact();
  options.repetition.most_measurements = 2;
  const Outcome limited = iterative_calibration(1000, 4, units.measure(), options);
  CHECK(limited.reason == StopReason::measurement_limit);
  CHECK(limited.measurements == 2);
  CHECK(iterative_calibration(0, 2, units.measure()).distribution.units == Slices{0, 0});
}

}  // namespace steelyard::test_iterative_calibration
