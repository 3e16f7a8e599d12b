#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/constant_model.hpp"
#include "partition/balancing/dynamic.hpp"
#include "partition/balancing/spread.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_dynamic {

using namespace steelyard::partition;
using models::ConstantModel;
using tests::Random;
using tests::SyntheticUnits;
using tests::whole;
using Slices = std::vector<std::int64_t>;

namespace {

const Algorithm& by_lines() { return find_algorithm("geometric"); }

DynamicOptions exact() {
  DynamicOptions options;
  options.eps = 0.0;
  options.most_measurements = 100;
  return options;
}

}  // namespace

TEST_CASE("dynamic partitioning ends within one computation unit of the true balance") {
  Random random(1);
  int measurements = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t total = whole(random, 1, 20000);
    const SyntheticUnits units = tests::random_units(random, whole(random, 1, 8), total);
    const Outcome outcome = dynamic(total, units.models.size(), units.measure(), by_lines(), exact());
    INFO("trial " << trial << ", total " << total << ", " << units.models.size() << " units, "
                  << to_string(outcome.reason));
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(units.makespan_s(outcome.distribution.units) <=
            (units.least_makespan_s(total) + units.granularity_s(total)) * (1.0 + 1e-12));
    REQUIRE((outcome.reason == StopReason::settled || outcome.reason == StopReason::balanced));
    measurements += outcome.measurements;
    REQUIRE(outcome.measurements == units.measurements);
  }
  INFO(measurements << " measurements of 200 problems");
  CHECK(measurements < 200 * 10);
}

TEST_CASE("constant speeds are balanced after one measurement and confirmed by a second") {
  SyntheticUnits units;
  for (const double speed : {1.0, 2.0, 5.0}) units.add(std::make_unique<ConstantModel>(speed));
  const Outcome outcome = dynamic(800, 3, units.measure(), by_lines());
  CHECK(outcome.distribution.units == Slices{100, 200, 500});
  CHECK(outcome.measurements == 2);
  CHECK(outcome.reason == StopReason::balanced);
  CHECK(std::abs(outcome.distribution.makespan_s() - 100.0) < 1e-9);
}

TEST_CASE("dynamic partitioning within 1 % of the work needs few measurements") {
  Random random(2);
  int measurements = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const SyntheticUnits units = tests::random_units(random, 4, 10000);
    const Outcome outcome = dynamic(10000, 4, units.measure(), by_lines());
    measurements += outcome.measurements;
    REQUIRE(units.makespan_s(outcome.distribution.units) <= 1.1 * units.least_makespan_s(10000));
  }
  INFO(measurements << " measurements of 100 problems");
  CHECK(measurements < 600);
}

TEST_CASE("dynamic partitioning is never slower than its start beyond the noise, and always ends") {
  const double noise = GENERATE(0.0, 0.02, 0.1, 0.3);
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = whole(random, 1, 5000);
    SyntheticUnits units = tests::random_units(random, whole(random, 2, 6), total);
    units.noise = noise;
    units.random.seed(static_cast<std::uint64_t>(trial));
    const std::vector<std::int64_t> even = start_or_even(total, units.models.size(), {}, {});
    const Outcome outcome = dynamic(total, units.models.size(), units.measure(), by_lines());
    INFO("trial " << trial << ", noise " << noise << ", " << to_string(outcome.reason));
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(outcome.measurements <= 20);
    REQUIRE(outcome.reason != StopReason::running);
    // Five runs a point leave an error of noise / sqrt(5) of either time.
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.makespan_s(even) * (1.0 + 2.5 * noise));
  }
}

TEST_CASE("dynamic partitioning with noise ends within the noise of the true balance") {
  Random random(4);
  double excess = 0.0;
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticUnits units = tests::random_units(random, 4, 10000);
    units.noise = 0.02;
    const Outcome outcome = dynamic(10000, 4, units.measure(), by_lines());
    excess += units.makespan_s(outcome.distribution.units) / units.least_makespan_s(10000) - 1.0;
  }
  INFO("mean excess " << excess / 100);
  CHECK(excess / 100 < 0.03);
}

TEST_CASE("no step is taken while the confidence intervals of all times overlap") {
  DynamicOptions options;
  options.most_rounds = 4;
  DynamicPartitioner partitioner(100, 2, by_lines(), options);
  const std::vector<models::MeasuredPoint> close = {{50, 1.0, 5, 0.1}, {50, 1.05, 5, 0.1}};
  for (int round = 0; round < 3; ++round) {
    REQUIRE(partitioner.step(close));
    REQUIRE(partitioner.current().units == Slices{50, 50});
  }
  CHECK_FALSE(partitioner.step(close));
  CHECK(partitioner.reason() == StopReason::within_spread);
  CHECK(partitioner.current().units == Slices{50, 50});
  CHECK(partitioner.measurements() == 4);
}

TEST_CASE("a unit that starts without work gets a probe and then what it is worth") {
  SyntheticUnits units;
  for (const double speed : {10.0, 1.0, 30.0}) units.add(std::make_unique<ConstantModel>(speed));
  DynamicOptions options = exact();
  options.start = {410, 0, 0};
  const Outcome outcome = dynamic(410, 3, units.measure(), by_lines(), options);
  CHECK(outcome.distribution.units == Slices{100, 10, 300});
}

TEST_CASE("every unit is measured where there are fewer computation units than units") {
  SyntheticUnits units;
  for (const double speed : {1.0, 2.0, 3.0, 9.0, 8.0}) units.add(std::make_unique<ConstantModel>(speed));
  const Outcome outcome = dynamic(2, 5, units.measure(), by_lines(), exact());
  CHECK(outcome.distribution.units == Slices{0, 0, 0, 1, 1});
}

TEST_CASE("a unit that large sizes overwhelm is asked for the smallest before it is left out") {
  SyntheticUnits units;
  units.add(std::make_unique<ConstantModel>(10.0));
  units.add(std::make_unique<tests::TrueSpeed>([](double x) { return x > 20.0 ? 1e-3 : 10.0; }));
  const Outcome outcome = dynamic(100, 2, units.measure(), by_lines(), exact());
  CHECK(outcome.distribution.units[1] > 0);
  CHECK(outcome.distribution.units[1] <= 20);
  CHECK(units.makespan_s(outcome.distribution.units) < 10.0);
}

TEST_CASE("slices of dynamic partitioning fit into memory from the start on") {
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    DynamicOptions options;
    options.max_units = {1000.0, tests::uniform(random, 0.5, 100.0), tests::uniform(random, 0.5, 100.0)};
    const SyntheticUnits units = tests::random_units(random, 3, 1000);
    const auto fits = [&](std::span<const std::int64_t> slices) {
      for (std::size_t i = 0; i < 3; ++i) REQUIRE(static_cast<double>(slices[i]) <= options.max_units[i]);
    };
    const auto measure = [&](std::span<const std::int64_t> slices) {
      fits(slices);
      return units.measure()(slices);
    };
    fits(dynamic(1000, 3, measure, by_lines(), options).distribution.units);
  }
}

TEST_CASE("dynamic partitioning ends for times that follow no function of the size") {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const auto measure = [&](std::span<const std::int64_t> slices) {
      std::vector<models::MeasuredPoint> points;
      for (const std::int64_t slice : slices) {
        points.push_back({static_cast<double>(slice), std::exp(tests::uniform(random, -3, 3)), 1, 0.0});
      }
      return points;
    };
    DynamicOptions options = exact();
    const std::int64_t total = whole(random, 1, 30);
    const Outcome outcome = dynamic(total, 3, measure, by_lines(), options);
    REQUIRE(outcome.measurements <= 100);
    REQUIRE(tests::sum(outcome.distribution.units) == total);
  }
}

TEST_CASE("dynamic partitioning works with every algorithm and says the same for the same measurements") {
  for (const Algorithm& algorithm : algorithms()) {
    INFO(algorithm.name);
    Random random(7);
    SyntheticUnits units = tests::random_units(random, 4, 3000);
    units.noise = 0.05;
    SyntheticUnits again;
    again.models = units.models;
    again.noise = 0.05;
    const Outcome first = dynamic(3000, 4, units.measure(), algorithm);
    const Outcome second = dynamic(3000, 4, again.measure(), algorithm);
    CHECK(tests::sum(first.distribution.units) == 3000);
    CHECK(first.distribution.units == second.distribution.units);
    CHECK(first.reason == second.reason);
    CHECK(first.measurements == second.measurements);
  }
}

TEST_CASE("a copy of a dynamic partitioner goes its own way") {
  DynamicPartitioner one(100, 2, by_lines());
  DynamicPartitioner other = one;
  one.step(std::vector<models::MeasuredPoint>{{50, 1.0}, {50, 4.0}});
  CHECK(other.current().units == Slices{50, 50});
  CHECK(other.measurements() == 0);
  CHECK(one.current().units == Slices{80, 20});
}

TEST_CASE("no work is balanced without a measurement") {
  const DynamicPartitioner partitioner(0, 3, by_lines());
  CHECK(partitioner.reason() == StopReason::balanced);
  CHECK(partitioner.current().units == Slices{0, 0, 0});
  CHECK(partitioner.current().makespan_s() == 0.0);
}

TEST_CASE("dynamic partitioning refuses measurements of something else, wrong starts and steps after its end") {
  DynamicPartitioner partitioner(100, 2, by_lines());
  using Points = std::vector<models::MeasuredPoint>;
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}}), InvalidArgument);
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}, {49, 1.0}}), InvalidArgument);
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}, {50, 0.0}}), InvalidArgument);
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}, {50, NAN}}), InvalidArgument);
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}, {50, 1.0, 1, -0.1}}), InvalidArgument);
  CHECK(partitioner.measurements() == 0);
  CHECK_FALSE(partitioner.step(Points{{50, 1.0}, {50, 1.0}}));
  CHECK_THROWS_AS(partitioner.step(Points{{50, 1.0}, {50, 1.0}}), InvalidArgument);
  DynamicOptions options;
  options.start = {50, 49};
  CHECK_THROWS_AS(DynamicPartitioner(100, 2, by_lines(), options), InvalidArgument);
  options.start = {101, -1};
  CHECK_THROWS_AS(DynamicPartitioner(100, 2, by_lines(), options), InvalidArgument);
  options.start = {60, 40};
  options.max_units = {55.0, 100.0};
  CHECK_THROWS_AS(DynamicPartitioner(100, 2, by_lines(), options), InvalidArgument);
  CHECK_THROWS_AS(DynamicPartitioner(100, 0, by_lines()), InvalidArgument);
  CHECK_THROWS_AS(DynamicPartitioner(-1, 2, by_lines()), InvalidArgument);
}

}  // namespace steelyard::test_dynamic
