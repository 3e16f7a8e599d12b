#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/solvers/solve_monitor.hpp"
#include "tests/miniapps/cavity/flow_run.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_time_loop {

using namespace steelyard::cavity;
using Catch::Matchers::WithinRel;
using steelyard::cavity::tests::FlowRun;
using steelyard::cavity::tests::random_flow;
using steelyard::cavity::tests::TestUnits;

namespace {

/// Cells are longer in one direction than in the other.
Problem some_problem(double height) {
  Problem problem;
  problem.rows = 24;
  problem.columns = 20;
  problem.height = height;
  problem.reynolds = 50.0;
  problem.correctors = 3;
  problem.time_step = 0.04;
  return problem;
}

/// Solvers that begin again now and then in long steps, for rounding leads their residuals away from the true ones.
Numerics tight_numerics() {
  Numerics numerics;
  numerics.reductions = Reductions::merged;
  numerics.preconditioner = Preconditioner::none;
  numerics.pressure.relative = 6e-15;
  numerics.momentum.relative = 7e-16;
  numerics.pressure.keep_history = numerics.momentum.keep_history = true;
  return numerics;
}

/// What the flow itself says of its steps.
std::vector<StepReport> reports_of(FlowRun& run, std::int64_t steps) {
  std::vector<StepReport> reports;
  for (std::int64_t step = 0; step < steps; ++step) reports.push_back(run.step());
  return reports;
}

void check_same(const SolveReport& one, const SolveReport& other) {
  CHECK(one.iterations == other.iterations);
  CHECK(one.restarts == other.restarts);
  CHECK(one.right_side == other.right_side);
  CHECK(one.residual == other.residual);
  CHECK(one.history == other.history);
}

void check_same(const std::vector<StepReport>& one, const std::vector<StepReport>& other) {
  CHECK(one.size() == other.size());
  for (std::size_t step = 0; step < std::min(one.size(), other.size()); ++step) {
    check_same(one[step].momentum, other[step].momentum);
    CHECK(one[step].pressure.size() == other[step].pressure.size());
    for (std::size_t k = 0; k < std::min(one[step].pressure.size(), other[step].pressure.size()); ++k) {
      check_same(one[step].pressure[k], other[step].pressure[k]);
    }
    CHECK(one[step].mass_imbalance == other[step].mass_imbalance);
    CHECK(one[step].change == other[step].change);
  }
}

}  // namespace

TEST_CASE("a log adds up iterations and restarts of all solves of all steps, and has the last change") {
  TestUnits units;
  Problem problem = some_problem(1.3);
  problem.time_step = 0.4;
  const Numerics numerics = tight_numerics();
  FlowRun alone(units, problem, numerics);
  const std::vector<StepReport> reports = reports_of(alone, 5);
  std::int64_t momentum = 0, pressure = 0, momentum_restarts = 0, pressure_restarts = 0;
  for (const StepReport& report : reports) {
    CHECK(report.pressure.size() == 3);
    momentum += report.momentum.iterations;
    momentum_restarts += report.momentum.restarts;
    for (const SolveReport& solve : report.pressure) {
      pressure += solve.iterations;
      pressure_restarts += solve.restarts;
    }
  }
  for (const bool keep : {false, true}) {
    FlowRun run(units, problem, numerics);
    const RunLog log = run_steps(run.flow, problem, numerics.pressure, {5, 0.0}, keep);
    CHECK(log.steps == 5);
    CHECK(run.flow.steps() == 5);
    CHECK(log.momentum_iterations == momentum);
    CHECK(log.pressure_iterations == pressure);
    CHECK(log.restarts == momentum_restarts + pressure_restarts);
    CHECK(log.change == reports.back().change);
    CHECK_FALSE(log.steady);
    check_same(log.reports, keep ? reports : std::vector<StepReport>());
  }
  CHECK(momentum > 0);
  CHECK(pressure > 0);
  CHECK(momentum_restarts > 0);
  CHECK(pressure_restarts > 0);
}

TEST_CASE("imbalance and what is allowed for it are the largest of all steps, over a cell's longer edge") {
  TestUnits units;
  SolveSettings relative, absolute, both;
  relative.relative = both.relative = 1e-3;
  absolute.absolute = both.absolute = 1e-4;
  absolute.relative = 0.0;
  for (const double height : {0.5, 3.0}) {
    const Problem problem = some_problem(height);
    // The first steps are the worst from here.
    const FlowState wild = random_flow(problem, 7);
    FlowRun alone(units, problem);
    alone.flow.load(wild);
    const std::vector<StepReport> reports = reports_of(alone, 4);
    const double edge = std::max(problem.dx(), problem.dy());
    for (const SolveSettings& settings : {relative, absolute, both}) {
      double imbalance = 0.0, right_side = 0.0;
      for (const StepReport& report : reports) {
        imbalance = std::max(imbalance, report.mass_imbalance);
        right_side = std::max(right_side, report.pressure.back().right_side);
      }
      FlowRun run(units, problem);
      run.flow.load(wild);
      const RunLog log = run_steps(run.flow, problem, settings, {4, 0.0}, false);
      CHECK(log.mass_imbalance == imbalance);
      CHECK(log.mass_imbalance > 0.0);
      const double allowed = SolveMonitor::slack * (settings.relative * right_side + settings.absolute) / edge;
      CHECK(std::abs(log.mass_tolerance - allowed) <= 1e-14 * allowed);
    }
    CHECK(reports.front().pressure.back().right_side > reports.back().pressure.back().right_side);
    CHECK(reports.front().mass_imbalance > reports.back().mass_imbalance);
  }
}

TEST_CASE("a run is steady with the first step that changes less than asked, and not before") {
  TestUnits units;
  const Problem problem = some_problem(1.0);
  FlowRun alone(units, problem);
  const std::vector<StepReport> reports = reports_of(alone, 12);
  for (const std::size_t step : {0, 4, 9}) {
    const double change = reports[step].change;
    const auto first =
        std::find_if(reports.begin(), reports.end(), [&](const StepReport& report) { return report.change < change; });
    CHECK(first != reports.end());
    if (first == reports.end()) continue;
    const std::int64_t expected = first - reports.begin() + 1;
    CAPTURE(step, expected);
    FlowRun run(units, problem);
    const RunLog log = run_steps(run.flow, problem, {}, {1000, change}, false);
    CHECK(log.steady);
    CHECK(log.steps == expected);
    CHECK(run.flow.steps() == expected);
    CHECK(log.change == first->change);
    CHECK(log.change < change);
    // In as many steps, but not in fewer.
    FlowRun enough(units, problem);
    CHECK(run_steps(enough.flow, problem, {}, {expected, change}, false).steady);
    FlowRun few(units, problem);
    const RunLog too_few = run_steps(few.flow, problem, {}, {expected - 1, change}, false);
    CHECK_FALSE(too_few.steady);
    CHECK(too_few.steps == expected - 1);
  }
}

TEST_CASE("a run of no steps leaves the flow as it is and has nothing to say") {
  TestUnits units;
  const Problem problem = some_problem(1.0);
  FlowRun run(units, problem);
  for (const double steady : {0.0, 1e9}) {
    const RunLog log = run_steps(run.flow, problem, {}, {0, steady}, true);
    CHECK(run.flow.steps() == 0);
    CHECK(log.steps == 0);
    CHECK(log.momentum_iterations == 0);
    CHECK(log.pressure_iterations == 0);
    CHECK(log.mass_imbalance == 0.0);
    CHECK(log.mass_tolerance == 0.0);
    CHECK(log.times.units.host.total_s() == 0.0);
    CHECK(log.reports.empty());
    CHECK_FALSE(log.steady);
  }
}

TEST_CASE("times and synchronisations are those of all steps, and as many as predicted") {
  TestUnits units;
  constexpr int steps = 4;
  for (const auto reductions : {Reductions::separate, Reductions::merged}) {
    for (const auto preconditioner : {Preconditioner::none, Preconditioner::multigrid}) {
      CAPTURE(static_cast<int>(reductions), static_cast<int>(preconditioner));
      Problem problem = some_problem(1.0);
      problem.rows = problem.columns = 48;
      problem.time_step = 0.01;
      Numerics numerics;
      numerics.reductions = reductions;
      numerics.preconditioner = preconditioner;
      FlowRun alone(units, problem, numerics);
      alone.steps(steps);
      FlowRun run(units, problem, numerics);
      const RunLog log = run_steps(run.flow, problem, {}, {steps, 0.0}, false);
      const UnitGroup::SyncCounts& counts = log.times.sync_counts;
      CHECK(counts.sums == alone.times.sync_counts.sums);
      CHECK(counts.exchanges == alone.times.sync_counts.exchanges);
      CHECK(counts.halo_bytes == alone.times.sync_counts.halo_bytes);
      const Iterations iterations{static_cast<double>(log.momentum_iterations) / steps,
                                  static_cast<double>(log.pressure_iterations) / steps};
      const SyncCounts expected = steps * step_syncs(problem, numerics, iterations);
      // A single unit needs no gather.
      const bool shared = units.slots().size() > 1 || preconditioner != Preconditioner::multigrid;
      // Where the last iteration of BiCGSTAB ends half way, merged reductions save an exchange of its direction.
      const double saved = static_cast<double>(counts.exchanges) - expected.exchanges;
      const double least = reductions == Reductions::merged ? -static_cast<double>(steps) : 0.0;
      if (shared) CHECK((saved <= 1e-6 && saved >= least - 1e-6));
      const double bytes = expected.halo_bytes + saved * 2.0 * row_bytes(problem.columns);
      if (shared) CHECK_THAT(static_cast<double>(counts.halo_bytes), WithinRel(bytes, 1e-12));
      // The last iteration of BiCGSTAB may end half way.
      CHECK(static_cast<double>(counts.sums) <= expected.sums + 1e-6);
      CHECK(static_cast<double>(counts.sums) >= expected.sums - steps - 1e-6);
      const StepPhases &host = log.times.units.host, &companion = log.times.units.companion;
      CHECK(host.own_s() + companion.own_s() > 0.0);
      for (const StepPhases& unit : {host, companion}) {
        for (const double seconds : unit.work_s) CHECK(seconds >= 0.0);
        const bool has_cycles = preconditioner == Preconditioner::multigrid && unit.own_s() > 0.0;
        CHECK((unit.work_s[StepPart::multigrid] > 0.0) == has_cycles);
      }
    }
  }
}

}  // namespace steelyard::test_time_loop
