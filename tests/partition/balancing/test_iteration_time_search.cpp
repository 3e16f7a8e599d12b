#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "partition/balancing/slice_search.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_iteration_time_search {

using namespace steelyard::partition;
using tests::Random;
using tests::SyntheticUnits;
using tests::whole;
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
    double least = exact_s(0, total);
    for (std::int64_t first = 1; first <= total; ++first) least = std::min(least, exact_s(first, total));
    return least;
  }
};

SyntheticIteration random_iteration(Random& random, std::int64_t total) {
  SyntheticIteration iteration;
  // Times that grow by at least as much for every unit of work are convex: their maximum is unimodal with any exchange.
  for (int i = 0; i < 2; ++i) {
    const double a = std::exp(tests::uniform(random, 3.0, 5.0)), b = tests::uniform(random, 0.5, 5.0) * total;
    iteration.units.add(std::make_unique<tests::TrueSpeed>([a, b](double x) { return a / (1.0 + x / b); }));
  }
  iteration.exchange_s_per_unit = tests::uniform(random, 0.0, 0.02);
  return iteration;
}

}  // namespace

TEST_CASE("the search on the iteration's time finds its minimum with about 2 log1.5 of the total measurements") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t total = whole(random, 1, 5000);
    SyntheticIteration iteration = random_iteration(random, total);
    const Outcome outcome = iteration_time_search(total, iteration.measure());
    INFO("trial " << trial << ", total " << total << ", " << to_string(outcome.reason));
    REQUIRE(tests::sum(outcome.distribution.units) == total);
    REQUIRE(iteration.exact_s(outcome.distribution.units[0], total) <= iteration.least_s(total) * (1.0 + 1e-12));
    REQUIRE(outcome.reason == StopReason::settled);
    REQUIRE(outcome.measurements == iteration.measurements);
    REQUIRE(outcome.measurements <= 2.0 * std::log(static_cast<double>(total)) / std::log(1.5) + 5.0);
  }
}

TEST_CASE("what an iteration does besides the kernels moves the line away from equal kernel times") {
  SyntheticIteration iteration;
  for (int i = 0; i < 2; ++i) iteration.units.add(std::make_unique<tests::TrueSpeed>([](double) { return 100.0; }));
  iteration.exchange_s_per_unit = 0.02;
  const std::int64_t equal = equal_times_search(1000, iteration.units.measure()).distribution.units[0];
  const std::int64_t least = iteration_time_search(1000, iteration.measure()).distribution.units[0];
  CHECK(equal == 500);
  CHECK(iteration.exact_s(least, 1000) < iteration.exact_s(equal, 1000));
}

TEST_CASE("with noise the search on the iteration's time ends within the noise and its limits") {
  const double noise = GENERATE(0.01, 0.05, 0.2);
  Random random(2);
  double excess = 0.0;
  for (int trial = 0; trial < 100; ++trial) {
    SyntheticIteration iteration = random_iteration(random, 4000);
    iteration.units.noise = noise;
    iteration.units.random.seed(static_cast<std::uint64_t>(trial));
    const Outcome outcome = iteration_time_search(4000, iteration.measure());
    REQUIRE(tests::sum(outcome.distribution.units) == 4000);
    REQUIRE(outcome.measurements <= 100);
    const double time_s = iteration.exact_s(outcome.distribution.units[0], 4000);
    excess += time_s / iteration.least_s(4000) - 1.0;
    REQUIRE(time_s <= iteration.exact_s(2000, 4000) * (1.0 + 3.0 * noise));
  }
  INFO("mean excess " << excess / 100 << " at noise " << noise);
  CHECK(excess / 100 < 2.0 * noise);
}

TEST_CASE("a time that does not depend on the line beyond its spread ends the search") {
  int measurements = 0;
  const auto measure = [&](std::span<const std::int64_t>) {
    return models::MeasuredPoint{1.0, 1.0 + 0.001 * (measurements++ % 3), 5, 0.1};
  };
  const Outcome outcome = iteration_time_search(1000, measure);
  CHECK(outcome.reason == StopReason::within_spread);
  CHECK(outcome.measurements <= 20);
}

TEST_CASE("the search on the iteration's time obeys its limits and is never slower than the even line") {
  Random random(3);
  for (int most = 1; most < 20; ++most) {
    SyntheticIteration iteration = random_iteration(random, 1000);
    SearchOptions options;
    options.repetition.most_measurements = most;
    const Outcome outcome = iteration_time_search(1000, iteration.measure(), options);
    CHECK(outcome.measurements <= most);
    CHECK(iteration.exact_s(outcome.distribution.units[0], 1000) <= iteration.exact_s(500, 1000));
    options = {};
    options.max_units = {100.0, 950.0};
    const Outcome bounded = iteration_time_search(1000, iteration.measure(), options);
    CHECK(bounded.distribution.units[0] >= 50);
    CHECK(bounded.distribution.units[0] <= 100);
  }
  const auto wild = [&](std::span<const std::int64_t>) {
    return models::MeasuredPoint{1.0, std::exp(tests::uniform(random, -3, 3)), 1, 0.0};
  };
  for (int trial = 0; trial < 100; ++trial) {
    const Outcome outcome = iteration_time_search(1000, wild);
    CHECK(tests::sum(outcome.distribution.units) == 1000);
  }
  CHECK_THROWS_AS(iteration_time_search(-1, wild), InvalidArgument);
  CHECK(iteration_time_search(0, wild).distribution.units == Slices{0, 0});
}

}  // namespace steelyard::test_iteration_time_search
