#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/load_balancer.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_load_balancer {

using namespace steelyard::partition;
using models::ConstantModel;
using tests::Random;
using tests::SyntheticUnits;
using Slices = std::vector<std::int64_t>;

namespace {

Algorithm by_lines() { return find_algorithm("geometric"); }

SyntheticUnits constant_units(const std::vector<double>& speeds) {
  SyntheticUnits units;
  for (const double speed : speeds) units.add(std::make_unique<ConstantModel>(speed));
  return units;
}

BalancingDecision iterate(LoadBalancer& balancer, const SyntheticUnits& units, double remaining = 1e9) {
  std::vector<double> times_s;
  for (std::size_t i = 0; i < units.models.size(); ++i) {
    times_s.push_back(units.run_s(i, balancer.current().units[i]));
  }
  return balancer.record(times_s, remaining);
}

LoadBalancerOptions every_iteration() {
  LoadBalancerOptions options;
  options.window = 1;
  options.settling = 0;
  options.eps = 0.0;
  return options;
}

}  // namespace

TEST_CASE("load balancing settles within one computation unit of the true balance") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = tests::whole(random, 10, 5000);
    SyntheticUnits units;
    // Times in proportion to size up to a factor of 3, as of a cache: what a constant speed below is too careful about.
    for (int i = tests::whole(random, 1, 6); i > 0; --i) {
      const double a = std::exp(tests::uniform(random, 3, 6)), drop = tests::uniform(random, 0, 2);
      units.add(std::make_unique<tests::TrueSpeed>(
          [=](double x) { return a / (1.0 + drop * x / (x + 0.3 * static_cast<double>(total))); }));
    }
    LoadBalancer balancer(total, units.models.size(), by_lines(), every_iteration());
    for (int i = 0; i < 60; ++i) {
      iterate(balancer, units);
      REQUIRE(tests::sum(balancer.current().units) == total);
    }
    INFO("trial " << trial);
    REQUIRE(units.makespan_s(balancer.current().units) <=
            (units.least_makespan_s(total) + units.granularity_s(total)) * (1.0 + 1e-12));
    REQUIRE(iterate(balancer, units) != BalancingDecision::repartitioned);
    REQUIRE(balancer.speed_changes() == 0);
  }
}

TEST_CASE("nothing moves while the window is not full or the times differ by less than their spread") {
  LoadBalancer balancer(100, 2, by_lines());
  const std::vector<std::vector<double>> window = {{1.0, 1.2}, {1.3, 1.1}, {0.9, 1.0}, {1.1, 1.4}, {1.2, 1.1}};
  for (int repeat = 0; repeat < 10; ++repeat) {
    for (int i = 0; i < 4; ++i)
      REQUIRE(balancer.record(window[static_cast<std::size_t>(i)]) == BalancingDecision::measuring);
    REQUIRE(balancer.record(window[4]) == BalancingDecision::within_spread);
  }
  CHECK(balancer.current().units == Slices{50, 50});
  CHECK(balancer.repartitions() == 0);
}

TEST_CASE("data moves only if the remaining iterations gain more than that costs") {
  const SyntheticUnits units = constant_units({1.0, 3.0});
  LoadBalancerOptions options = every_iteration();
  // 50 : 50 takes 50 s, 25 : 75 takes 25 s.
  options.redistribution_s = 100.0;
  LoadBalancer balancer(100, 2, by_lines(), options);
  CHECK(iterate(balancer, units, 0.0) == BalancingDecision::not_worth_it);
  CHECK(iterate(balancer, units, 4.0) == BalancingDecision::not_worth_it);
  CHECK(balancer.current().units == Slices{50, 50});
  CHECK(iterate(balancer, units, 5.0) == BalancingDecision::repartitioned);
  CHECK(balancer.current().units == Slices{25, 75});
  options.redistribution_s_per_unit = 2.0;  // 25 change hands
  LoadBalancer dearer(100, 2, by_lines(), options);
  CHECK(iterate(dearer, units, 6.0) == BalancingDecision::not_worth_it);
  CHECK(iterate(dearer, units, 7.0) == BalancingDecision::repartitioned);
}

TEST_CASE("the balance follows a unit that changes its speed in mid-run") {
  const double noise = GENERATE(0.0, 0.02);
  SyntheticUnits before = constant_units({100.0, 100.0, 200.0});
  SyntheticUnits after = constant_units({100.0, 25.0, 200.0});
  before.noise = after.noise = noise;
  LoadBalancer balancer(4000, 3, by_lines());
  for (int i = 0; i < 60; ++i) iterate(balancer, before);
  CHECK(before.makespan_s(balancer.current().units) < 10.0 * (1.0 + 0.01 + 2.0 * noise));
  CHECK(balancer.speed_changes() <= (noise > 0.0 ? 3 : 0));
  const int unfounded = balancer.speed_changes();
  for (int i = 0; i < 60; ++i) iterate(balancer, after);
  CHECK(balancer.speed_changes() > unfounded);
  CHECK(after.makespan_s(balancer.current().units) < 4000.0 / 325.0 * (1.0 + 0.01 + 2.0 * noise));
  for (int i = 0; i < 60; ++i) iterate(balancer, before);
  CHECK(before.makespan_s(balancer.current().units) < 10.0 * (1.0 + 0.01 + 2.0 * noise));
}

TEST_CASE("a faster unit is believed even though its old points are many") {
  LoadBalancer balancer(1000, 2, by_lines(), every_iteration());
  SyntheticUnits slow = constant_units({10.0, 30.0});
  for (int i = 0; i < 20; ++i) iterate(balancer, slow);
  SyntheticUnits fast = constant_units({1000.0, 30.0});
  for (int i = 0; i < 20; ++i) iterate(balancer, fast);
  CHECK(fast.makespan_s(balancer.current().units) <= fast.least_makespan_s(1000) + fast.granularity_s(1000));
}

TEST_CASE("noise alone makes the balance neither wander away nor change forever") {
  Random random(2);
  int late = 0;
  for (int trial = 0; trial < 20; ++trial) {
    SyntheticUnits units = constant_units({100.0, 300.0, 200.0, 50.0});
    units.noise = 0.05;
    units.random.seed(static_cast<std::uint64_t>(trial));
    LoadBalancer balancer(10000, 4, by_lines());
    for (int i = 0; i < 300; ++i) iterate(balancer, units);
    const int early = balancer.repartitions();
    for (int i = 0; i < 300; ++i) iterate(balancer, units);
    late += balancer.repartitions() - early;
    REQUIRE(units.makespan_s(balancer.current().units) < 10000.0 / 650.0 * 1.15);
  }
  INFO(late << " changes in 20 x 60 windows after the first 60");
  CHECK(late < 20 * 60 / 10);
}

TEST_CASE("a unit without work comes back when it has become fast") {
  LoadBalancerOptions options = every_iteration();
  options.idle_windows = 5;
  LoadBalancer balancer(100, 2, by_lines(), options);
  const SyntheticUnits before = constant_units({10.0, 1e-3});
  for (int i = 0; i < 4; ++i) iterate(balancer, before);
  CHECK(balancer.current().units == Slices{100, 0});
  const SyntheticUnits after = constant_units({10.0, 10.0});
  for (int i = 0; i < 20; ++i) iterate(balancer, after);
  CHECK(balancer.current().units == Slices{50, 50});
}

TEST_CASE("a unit that stays useless is asked less and less often") {
  LoadBalancerOptions options = every_iteration();
  options.idle_windows = 5;
  LoadBalancer balancer(100, 2, by_lines(), options);
  const SyntheticUnits units = constant_units({10.0, 1e-3});
  int probed = 0;
  for (int i = 0; i < 1000; ++i) {
    iterate(balancer, units);
    probed += balancer.current().units[1] > 0 ? 1 : 0;
  }
  CHECK(probed < 12);
  options.redistribution_s = 1e6;
  options.start = {100, 0};
  LoadBalancer dear(100, 2, by_lines(), options);
  for (int i = 1000; i > 0; --i) iterate(dear, units, i);
  CHECK(dear.repartitions() == 0);
}

TEST_CASE("load balancing decides the same for the same times") {
  SyntheticUnits units = constant_units({100.0, 300.0, 200.0});
  units.noise = 0.1;
  LoadBalancer one(1000, 3, by_lines()), other(1000, 3, by_lines());
  for (int i = 0; i < 200; ++i) {
    std::vector<double> times_s;
    for (std::size_t u = 0; u < 3; ++u) times_s.push_back(units.run_s(u, one.current().units[u]));
    REQUIRE(one.record(times_s) == other.record(times_s));
    REQUIRE(one.current().units == other.current().units);
  }
}

TEST_CASE("load balancing refuses times that are none and options out of range") {
  LoadBalancer balancer(100, 2, by_lines());
  using Times = std::vector<double>;
  CHECK_THROWS_AS(balancer.record(Times{1.0}), InvalidArgument);
  CHECK_THROWS_AS(balancer.record(Times{1.0, 0.0}), InvalidArgument);
  CHECK_THROWS_AS(balancer.record(Times{1.0, NAN}), InvalidArgument);
  CHECK_THROWS_AS(balancer.record(Times{1.0, 1.0}, -1.0), InvalidArgument);
  LoadBalancerOptions options;
  options.window = 0;
  CHECK_THROWS_AS(LoadBalancer(100, 2, by_lines(), options), InvalidArgument);
  options = {};
  options.redistribution_s = -1.0;
  CHECK_THROWS_AS(LoadBalancer(100, 2, by_lines(), options), InvalidArgument);
  CHECK_THROWS_AS(LoadBalancer(100, 0, by_lines()), InvalidArgument);
  LoadBalancer nothing(0, 2, by_lines());
  CHECK(nothing.record(Times{0.0, 0.0}) == BalancingDecision::balanced);
}

}  // namespace steelyard::test_load_balancer
