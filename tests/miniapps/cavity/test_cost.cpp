#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>

#include "miniapps/cavity/cost.hpp"

namespace steelyard::test_cost {

using namespace steelyard::cavity;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using models::Placement;

namespace {

constexpr double latency_s = 1e-6, bandwidth = 1e9;

/// One node's memory, as Hockney's model knows it.
models::Platform memory() {
  models::Platform platform;
  platform.channels.resize(1);
  platform.channels[0].hockney = {{std::numeric_limits<double>::infinity(), {latency_s, bandwidth}}};
  return platform;
}

}  // namespace

TEST_CASE("Ranks synchronise in as many messages as the patterns have, a single rank in none") {
  const SyncCosts alone = sync_costs(8000.0, 1, memory(), Placement(memory(), {0})).front();
  CHECK(alone.sum_s == 0.0);
  CHECK(alone.halos_s({10.0, 10.0, 1e6}) == 0.0);
  const SyncCosts two = sync_costs(8000.0, 2, memory(), Placement(memory(), {0, 0})).front();
  CHECK(two.model == "Hockney");
  CHECK_THAT(two.byte_s, WithinRel(1.0 / bandwidth, 1e-9));
  CHECK_THAT(two.exchange_s, WithinRel(latency_s, 1e-6));
  CHECK(two.sum_s > latency_s);
  CHECK(two.sum_s < 2.0 * latency_s);
  // Recursive doubling: a phase more for twice the ranks.
  const SyncCosts four = sync_costs(8000.0, 4, memory(), Placement(memory(), {0, 0, 0, 0})).front();
  CHECK_THAT(four.sum_s, WithinRel(2.0 * two.sum_s, 1e-9));
  // Inner ranks have two neighbours.
  CHECK_THAT(four.exchange_s, WithinRel(2.0 * two.exchange_s, 1e-6));
}

TEST_CASE("A part of a step takes as long as its slowest unit, and a synchronisation what its kind costs") {
  SyncCounts counts{3.0, 2.0, 4096.0};
  counts += 2.0 * SyncCounts{0.5, 0.5, 512.0};
  const SyncCosts costs{"any", 5.0, 7.0, 0.25};
  const std::vector<PerPart<double>> units{{1.5, 2.25, 0.0, 4.0}, {2.0, 1.0, 0.0, 1.0}};
  const StepPhases step = step_phases({2.0, 4.0, 4.0, 1.0}, units, counts, costs);
  CHECK(step.work_s == PerPart<double>{4.0, 9.0, 0.0, 4.0});
  CHECK(step.sums_s == 20.0);
  CHECK(step.halos_s == 3.0 * 7.0 + 5120.0 * 0.25);
  CHECK(step.total_s() == 17.0 + step.sums_s + step.halos_s);
  Numerics numerics;
  CHECK(named_phases(step, numerics).size() == 6);
  numerics.preconditioner = Preconditioner::none;
  double named_s = 0.0;
  for (const auto& [name, seconds] : named_phases(step, numerics)) named_s += seconds;
  CHECK(named_s == step.total_s());
}

TEST_CASE("Balance gains what computation gains where nobody communicates, and ever less where they do") {
  CHECK(SpeedupBound{2.0, 0.0}.execution() == 2.0);
  CHECK(SpeedupBound{1.0, 0.7}.execution() == 1.0);
  // 000, section 5.3.4: 1.25 for 1.4 and a ratio of 0.6, 1.15 for 1.25 and 0.67.
  CHECK_THAT((SpeedupBound{1.4, 0.6}.execution()), WithinAbs(1.25, 0.005));
  CHECK_THAT((SpeedupBound{1.25, 0.67}.execution()), WithinAbs(1.15, 0.005));
}

TEST_CASE("A step moves what its iterations move, in proportion to cells") {
  Problem problem;
  problem.rows = 30;
  problem.columns = 20;
  struct Expected {
    Reductions reductions;
    Preconditioner preconditioner;
    double pressure_bytes, momentum_bytes;
  };
  using enum Preconditioner;
  for (const Expected& expected : {Expected{Reductions::separate, none, 64.0, 304.0},
                                   {Reductions::separate, multigrid, 125.0, 304.0},
                                   {Reductions::merged, none, 64.0, 272.0},
                                   {Reductions::merged, multigrid, 133.0, 272.0}}) {
    const Numerics numerics{expected.reductions, expected.preconditioner, {}, {}};
    const double rest = step_bytes(problem, numerics, {0.0, 0.0});
    const double momentum = step_bytes(problem, numerics, {1.0, 0.0}) - rest;
    const double pressure = step_bytes(problem, numerics, {0.0, 1.0}) - rest;
    // Right sides and corrections, and the residuals at both ends of solves.
    CHECK(rest > (42.0 + 16.0 + 2.0 * 6.0) * 8.0 * 600.0 * (1.0 - 1e-12));
    CHECK_THAT(momentum, WithinRel(expected.momentum_bytes * 600.0, 1e-12));
    CHECK_THAT(pressure, WithinRel(expected.pressure_bytes * 600.0, 1e-12));
    CHECK_THAT(step_bytes(problem, numerics, {3.0, 5.0}), WithinRel(rest + 3.0 * momentum + 5.0 * pressure, 1e-12));
    Problem larger = problem;
    larger.rows *= 2;
    CHECK_THAT(step_bytes(larger, numerics, {0.0, 0.0}), WithinRel(2.0 * rest, 1e-12));
  }
}

}  // namespace steelyard::test_cost
