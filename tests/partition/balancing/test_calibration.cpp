#include <map>

#include "partition/balancing/calibration.hpp"
#include "tests/catch.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_balancing_calibration {

using namespace steelyard::partition;
using namespace steelyard::tests;
using Slices = std::vector<std::int64_t>;

namespace {

/// An iteration lasts until the later kernel ends, and then the first unit exchanges what its slice needs.
struct SyntheticIteration {
  SyntheticUnits units;
  double exchange_s_per_unit = 0.0;
  int measurements = 0;

  double exact_s(std::int64_t first, std::int64_t total) const {
    return units.makespan_s({first, total - first}) + exchange_s_per_unit * static_cast<double>(first);
  }
  MeasureIteration measure() {
    return [this](std::span<const std::int64_t> slices) {
      ++measurements;
      const models::MeasuredPoint a = units.point(0, slices[0]), b = units.point(1, slices[1]);
      models::MeasuredPoint last = a.time_s > b.time_s ? a : b;
      last.time_s += exchange_s_per_unit * static_cast<double>(slices[0]);
      return last;
    };
  }
  double least_s(std::int64_t total) const {
    double least_s = exact_s(0, total);
    for (std::int64_t first = 1; first <= total; ++first) least_s = std::min(least_s, exact_s(first, total));
    return least_s;
  }
};

SyntheticIteration random_iteration(Random& random, std::int64_t total) {
  SyntheticIteration iteration;
  // Times that grow by at least as much for every unit of work are convex: their maximum is unimodal with any exchange.
  for (int i = 0; i < 2; ++i) {
    const double a = std::exp(uniform(random, 3.0, 5.0)), b = uniform(random, 0.5, 5.0) * static_cast<double>(total);
    iteration.units.add(std::make_unique<tests::TrueSpeed>([a, b](double x) { return a / (1.0 + x / b); }));
  }
  iteration.exchange_s_per_unit = uniform(random, 0.0, 0.02);
  return iteration;
}

ThroughputOptions exact() {
  ThroughputOptions options;
  options.eps = 0.0;
  return options;
}

}  // namespace

TEST_CASE("the search for equal times finds the least makespan with about log2 of the total measurements") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const std::int64_t total = trial % 5 == 0 ? whole(random, 1, 20) : whole(random, 1, 100000);
    const SyntheticUnits units = tests::random_units(random, 2, total);
    const Outcome outcome = equal_times_search(total, units.measure());
    INFO("trial " << trial << ", total " << total << ", " << to_string(outcome.reason));
    const double makespan_s = units.makespan_s(outcome.distribution.units);
    REQUIRE(sum(outcome.distribution.units) == total);
    REQUIRE(makespan_s <= units.least_makespan_s(total) * (1.0 + 1e-12));
    REQUIRE_THAT(outcome.distribution.makespan_s(), Catch::Matchers::WithinRel(makespan_s, 1e-12));
    REQUIRE(outcome.measurements == units.measurements);
    REQUIRE(outcome.measurements <= std::ceil(std::log2(static_cast<double>(total))) + 2);
  }
}

TEST_CASE("with noise the search for equal times ends within the noise of the balance") {
  const double noise = GENERATE(0.01, 0.05);
  Random random(2);
  int stuck = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const double speed = std::exp(uniform(random, 0.0, 3.0));
    SyntheticUnits units = constant_units({speed, 1.0});
    units.noise = noise;
    units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = equal_times_search(16384, units.measure());
    REQUIRE(sum(outcome.distribution.units) == 16384);
    REQUIRE(outcome.measurements <= 100);
    stuck += units.makespan_s(outcome.distribution.units) > (1.0 + 3.0 * noise) * 16384 / (1.0 + speed) ? 1 : 0;
  }
  INFO(stuck << " of 200 are farther from the balance than three times the noise of a run");
  CHECK(stuck <= 4);
}

TEST_CASE("a wrong step that noise once led to is taken back") {
  const std::size_t slower = GENERATE(std::size_t{0}, std::size_t{1});
  const SyntheticUnits units = slower == 0 ? constant_units({60.0, 40.0}) : constant_units({40.0, 60.0});
  int measurements = 0;
  const auto misled = [&](std::span<const std::int64_t> slices) {
    auto points = units.measure()(slices);
    for (auto& point : points) point.confidence_s = 0.001 * point.time_s;
    // One unit looks three times slower than it is, once, at the very first line.
    if (++measurements == 1) points[slower].time_s *= 3.0;
    return points;
  };
  CHECK(std::abs(equal_times_search(1000, misled).distribution.units[slower] - 600) <= 5);
}

TEST_CASE("the search for equal times obeys its limits of measurements and resolution") {
  const SyntheticUnits units = constant_units({9.0, 1.0});
  for (int most = 1; most < 8; ++most) {
    SearchOptions few;
    few.repetition.most_measurements = most;
    const Outcome outcome = equal_times_search(1000, units.measure(), few);
    CHECK(outcome.reason == StopReason::measurement_limit);
    CHECK(outcome.measurements == most);
    CHECK(sum(outcome.distribution.units) == 1000);
  }
  SearchOptions coarse;
  coarse.resolution = 50;
  const Outcome outcome = equal_times_search(1000, units.measure(), coarse);
  CHECK(std::abs(outcome.distribution.units[0] - 900) <= 50);
  CHECK(outcome.measurements <= 7);
  CHECK(equal_times_search(0, units.measure()).distribution.units == Slices{0, 0});
}

TEST_CASE("the search for equal times is never slower than the even line, whatever the times") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::map<std::int64_t, double> times[2];
    const auto measure = [&](std::span<const std::int64_t> slices) {
      std::vector<models::MeasuredPoint> points;
      for (std::size_t i = 0; i < 2; ++i) {
        const auto time = times[i].try_emplace(slices[i], std::exp(uniform(random, -3, 3))).first;
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

TEST_CASE("the search on the iteration's time finds its minimum with about 2 log1.5 of the total measurements") {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t total = trial % 5 == 0 ? whole(random, 1, 20) : whole(random, 1, 5000);
    SyntheticIteration iteration = random_iteration(random, total);
    const Outcome outcome = iteration_time_search(total, iteration.measure());
    INFO("trial " << trial << ", total " << total << ", " << to_string(outcome.reason));
    const std::int64_t first = outcome.distribution.units[0];
    REQUIRE(sum(outcome.distribution.units) == total);
    REQUIRE(iteration.exact_s(first, total) <= iteration.least_s(total) * (1.0 + 1e-12));
    REQUIRE(outcome.reason == StopReason::settled);
    REQUIRE(outcome.measurements == iteration.measurements);
    REQUIRE(outcome.measurements <= 2.0 * std::log(static_cast<double>(total)) / std::log(1.5) + 5.0);
  }
}

TEST_CASE("with noise the search on the iteration's time ends within the noise and its limits") {
  const double noise = GENERATE(0.01, 0.05, 0.2);
  Random random(5);
  double excess = 0.0;
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticIteration iteration = random_iteration(random, 4000);
    iteration.units.noise = noise;
    iteration.units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = iteration_time_search(4000, iteration.measure());
    REQUIRE(sum(outcome.distribution.units) == 4000);
    REQUIRE(outcome.measurements <= 100);
    const double time_s = iteration.exact_s(outcome.distribution.units[0], 4000);
    excess += time_s / iteration.least_s(4000) - 1.0;
    REQUIRE(time_s <= iteration.exact_s(2000, 4000) * (1.0 + 3.0 * noise));
  }
  INFO("mean excess " << excess / 100 << " at noise " << noise);
  CHECK(excess / 100 < 2.0 * noise);
}

TEST_CASE("the search on the iteration's time ends where the line does not matter and at its limit") {
  int measurements = 0;
  const auto alike = [&](std::span<const std::int64_t>) {
    return models::MeasuredPoint{1.0, 1.0 + 0.001 * (measurements++ % 3), 5, 0.1};
  };
  const Outcome still = iteration_time_search(1000, alike);
  CHECK(still.reason == StopReason::within_spread);
  CHECK(still.measurements <= 20);
  Random random(6);
  for (int most = 1; most < 20; ++most) {
    SyntheticIteration iteration = random_iteration(random, 1000);
    SearchOptions options;
    options.repetition.most_measurements = most;
    const Outcome outcome = iteration_time_search(1000, iteration.measure(), options);
    CHECK(outcome.measurements <= most);
    CHECK(iteration.exact_s(outcome.distribution.units[0], 1000) <= iteration.exact_s(500, 1000));
  }
  CHECK(iteration_time_search(0, alike).distribution.units == Slices{0, 0});
}

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

TEST_CASE("calibration and search stop when differences are within the spread, and calibration at its limit") {
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
  const Outcome searched = equal_times_search(100, measure);
  CHECK(searched.reason == StopReason::within_spread);
  CHECK(searched.distribution.units == Slices{50, 50});
  CHECK(searched.measurements == 5);
  Random random(6);
  const SyntheticUnits units = tests::cached_units(random, 4, 1000.0);
  ThroughputOptions options = exact();
  options.repetition.most_measurements = 2;
  const Outcome limited = iterative_calibration(1000, 4, units.measure(), options);
  CHECK(limited.reason == StopReason::measurement_limit);
  CHECK(limited.measurements == 2);
  CHECK(iterative_calibration(0, 2, units.measure()).distribution.units == Slices{0, 0});
}

}  // namespace steelyard::test_balancing_calibration
