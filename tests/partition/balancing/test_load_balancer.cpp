#include "partition/balancing/load_balancer.hpp"
#include "tests/catch.hpp"
#include "tests/partition/balancing/synthetic_units.hpp"

namespace steelyard::test_load_balancer {

using namespace steelyard::partition;
using namespace steelyard::tests;
using Slices = std::vector<std::int64_t>;

namespace {

Algorithm by_lines() { return find_algorithm("geometric"); }

BalancingDecision iterate(LoadBalancer& balancer, const SyntheticUnits& units, double remaining = 1e9) {
  const std::int64_t total = sum(balancer.current().units);
  std::vector<double> times_s;
  for (std::size_t i = 0; i < units.models.size(); ++i) {
    times_s.push_back(units.run_s(i, balancer.current().units[i]));
  }
  const BalancingDecision decision = balancer.record(times_s, remaining);
  REQUIRE(sum(balancer.current().units) == total);
  return decision;
}

LoadBalancerOptions every_iteration() {
  LoadBalancerOptions options;
  options.window = 1;
  options.eps = 0.0;
  return options;
}

}  // namespace

TEST_CASE("load balancing settles within one computation unit of the true balance") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t total = tests::whole(random, 10, 5000);
    const int count = tests::whole(random, 1, 6);
    const SyntheticUnits units = tests::cached_units(random, count, static_cast<double>(total));
    LoadBalancer balancer(total, units.models.size(), by_lines(), every_iteration());
    for (int i = 0; i < 120; ++i) iterate(balancer, units);
    INFO("trial " << trial);
    REQUIRE(units.makespan_s(balancer.current().units) <=
            (units.least_makespan_s(total) + units.granularity_s(total)) * (1.0 + 1e-12));
    REQUIRE(iterate(balancer, units) != BalancingDecision::repartitioned);
  }
}

TEST_CASE("nothing moves while the window is not full or the times differ by less than their spread") {
  LoadBalancer balancer(100, 2, by_lines());
  const std::vector<std::vector<double>> window = {{1.0, 1.2}, {1.3, 1.1}, {0.9, 1.0}, {1.1, 1.4}, {1.2, 1.1}};
  for (std::size_t i = 0; i < 50; ++i) {
    REQUIRE(balancer.record(window[i % 5]) ==
            (i % 5 < 4 ? BalancingDecision::measuring : BalancingDecision::within_spread));
  }
  CHECK(balancer.current().units == Slices{50, 50});
  CHECK(balancer.repartitions() == 0);
  LoadBalancer nothing(0, 2, by_lines());
  CHECK(nothing.record(std::vector<double>{0.0, 0.0}) == BalancingDecision::balanced);
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
}

TEST_CASE("the balance follows units that change their speed in mid-run, alike for the same times") {
  const double noise = GENERATE(0.0, 0.02);
  const double changed = GENERATE(25.0, 2000.0);
  SyntheticUnits before = constant_units({100.0, 100.0, 200.0});
  SyntheticUnits after = constant_units({100.0, changed, 200.0});
  before.noise = after.noise = noise;
  LoadBalancer balancer(4000, 3, by_lines()), twin = balancer;
  const auto settles = [&](const SyntheticUnits& units, double least_s) {
    for (int i = 0; i < 60; ++i) {
      std::vector<double> times_s;
      for (std::size_t u = 0; u < 3; ++u) times_s.push_back(units.run_s(u, balancer.current().units[u]));
      REQUIRE(balancer.record(times_s) == twin.record(times_s));
      REQUIRE(balancer.current().units == twin.current().units);
    }
    CHECK(units.makespan_s(balancer.current().units) < least_s * (1.0 + 0.01 + 2.0 * noise));
  };
  settles(before, 10.0);
  settles(after, 4000.0 / (300.0 + changed));
  settles(before, 10.0);
}

TEST_CASE("noise alone makes the balance neither wander away nor change forever") {
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

TEST_CASE("a unit without work comes back when it has become fast, and is asked less and less often while it is not") {
  LoadBalancerOptions options = every_iteration();
  LoadBalancer balancer(100, 2, by_lines(), options);
  const SyntheticUnits useless = constant_units({10.0, 1e-3});
  for (int i = 0; i < 8; ++i) iterate(balancer, useless);
  CHECK(balancer.current().units == Slices{100, 0});
  LoadBalancer longer = balancer;
  for (int i = 0; i < 60; ++i) iterate(balancer, constant_units({10.0, 10.0}));
  CHECK(balancer.current().units == Slices{50, 50});
  int probed = 0;
  for (int i = 0; i < 5000; ++i) {
    iterate(longer, useless);
    probed += longer.current().units[1] > 0 ? 1 : 0;
  }
  CHECK(probed > 3);
  CHECK(probed < 30);
  options.redistribution_s = 1e6;
  options.start = {100, 0};
  LoadBalancer dear(100, 2, by_lines(), options);
  for (int i = 1000; i > 0; --i) iterate(dear, useless, i);
  CHECK(dear.repartitions() == 0);
}

}  // namespace steelyard::test_load_balancer
