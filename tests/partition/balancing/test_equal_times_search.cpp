#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/slice_search.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_equal_times_search {

using namespace steelyard::partition;
using tests::Random;
using tests::SyntheticUnits;
using tests::whole;
using Slices = std::vector<std::int64_t>;

TEST_CASE("the search for equal times finds the least makespan with about log2 of the total measurements") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t total = whole(random, 1, 100000);
    const SyntheticUnits units = tests::random_units(random, 2, total);
    const Outcome outcome = equal_times_search(total, units.measure());
    INFO("trial " << trial << ", total " << total << ", " << to_string(outcome.reason));
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(units.makespan_s(outcome.distribution.units) <= units.least_makespan_s(total) * (1.0 + 1e-12));
    REQUIRE_THAT(outcome.distribution.makespan_s(),
                 Catch::Matchers::WithinRel(units.makespan_s(outcome.distribution.units), 1e-12));
    REQUIRE(outcome.measurements == units.measurements);
    REQUIRE(outcome.measurements <= std::ceil(std::log2(static_cast<double>(total))) + 2);
  }
}

TEST_CASE("with noise the search for equal times ends within the noise of the balance") {
  const double noise = GENERATE(0.01, 0.05);
  Random random(2);
  int stuck = 0;
  for (int trial = 0; trial < 200; ++trial) {
    SyntheticUnits units;
    const double speed = std::exp(tests::uniform(random, 0.0, 3.0));
    units.add(std::make_unique<models::ConstantModel>(speed));
    units.add(std::make_unique<models::ConstantModel>(1.0));
    units.noise = noise;
    units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = equal_times_search(16384, units.measure());
    REQUIRE(tests::sum(outcome.distribution.units) == 16384);
    REQUIRE(outcome.measurements <= 100);
    stuck += units.makespan_s(outcome.distribution.units) > (1.0 + 3.0 * noise) * 16384 / (1.0 + speed) ? 1 : 0;
  }
  INFO(stuck << " of 200 are farther from the balance than three times the noise of a run");
  CHECK(stuck <= 4);
}

TEST_CASE("a wrong step that noise once led to is taken back") {
  const SyntheticUnits units = [] {
    SyntheticUnits two;
    two.add(std::make_unique<models::ConstantModel>(60.0));
    two.add(std::make_unique<models::ConstantModel>(40.0));
    return two;
  }();
  int measurements = 0;
  const auto measure = [&](std::span<const std::int64_t> slices) {
    auto points = units.measure()(slices);
    for (auto& point : points) point.confidence_s = 0.001 * point.time_s;
    // The first unit looks three times slower than it is, once, at the very first line.
    if (++measurements == 1) points[0].time_s *= 3.0;
    return points;
  };
  const Outcome outcome = equal_times_search(1000, measure);
  CHECK(std::abs(outcome.distribution.units[0] - 600) <= 5);
}

TEST_CASE("no step is taken where the kernels' times cannot be told apart") {
  int measurements = 0;
  const auto measure = [&](std::span<const std::int64_t> slices) {
    ++measurements;
    return std::vector<models::MeasuredPoint>{{static_cast<double>(slices[0]), 1.0, 3, 0.2},
                                              {static_cast<double>(slices[1]), 1.02, 3, 0.2}};
  };
  SearchOptions options;
  options.repetition.most_rounds = 4;
  const Outcome outcome = equal_times_search(100, measure, options);
  CHECK(outcome.distribution.units == Slices{50, 50});
  CHECK(outcome.reason == StopReason::within_spread);
  CHECK(outcome.measurements == 4);
  CHECK(measurements == 4);
}

TEST_CASE("the search for equal times obeys its limits of memory, measurements and resolution") {
  SyntheticUnits units;
  units.add(std::make_unique<models::ConstantModel>(9.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  SearchOptions options;
  options.max_units = {600.5, 1000.0};
  CHECK(equal_times_search(1000, units.measure(), options).distribution.units == Slices{600, 400});
  options.max_units = {1000.0, 50.0};
  CHECK(equal_times_search(1000, units.measure(), options).distribution.units == Slices{950, 50});
  options.max_units = {400.0, 400.0};
  CHECK_THROWS_AS(equal_times_search(1000, units.measure(), options), InvalidArgument);
  for (int most = 1; most < 8; ++most) {
    SearchOptions few;
    few.repetition.most_measurements = most;
    const Outcome outcome = equal_times_search(1000, units.measure(), few);
    CHECK(outcome.reason == StopReason::measurement_limit);
    CHECK(outcome.measurements == most);
    CHECK(tests::sum(outcome.distribution.units) == 1000);
  }
  SearchOptions coarse;
  coarse.resolution = 50;
  const Outcome outcome = equal_times_search(1000, units.measure(), coarse);
  CHECK(std::abs(outcome.distribution.units[0] - 900) <= 50);
  CHECK(outcome.measurements <= 7);
  coarse.resolution = 0;
  CHECK_THROWS_AS(equal_times_search(1000, units.measure(), coarse), InvalidArgument);
  CHECK(equal_times_search(0, units.measure()).distribution.units == Slices{0, 0});
}

TEST_CASE("the search for equal times is never slower than the even line, whatever the times") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::map<std::int64_t, double> times[2];
    const auto measure = [&](std::span<const std::int64_t> slices) {
      std::vector<models::MeasuredPoint> points;
      for (std::size_t i = 0; i < 2; ++i) {
        const auto time = times[i].try_emplace(slices[i], std::exp(tests::uniform(random, -3, 3))).first;
        points.push_back({static_cast<double>(slices[i]), time->second, 1, 0.0});
      }
      return points;
    };
    const Outcome outcome = equal_times_search(64, measure);
    if (times[0].contains(32)) {
      REQUIRE(outcome.distribution.makespan_s() <= std::max(times[0].at(32), times[1].at(32)));
    }
  }
}

}  // namespace steelyard::test_equal_times_search
