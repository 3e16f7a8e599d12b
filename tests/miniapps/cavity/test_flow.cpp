#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/cavity/solvers/solve_monitor.hpp"
#include "tests/miniapps/allocations.hpp"
#include "tests/miniapps/cavity/flow_run.hpp"

namespace steelyard::test_flow {

using namespace steelyard::cavity;
using steelyard::cavity::tests::FlowRun;
using steelyard::cavity::tests::TestUnits;

namespace {

Problem small_problem(TimeScheme scheme) {
  Problem problem;
  problem.rows = 24;
  problem.columns = 20;
  problem.height = 1.3;
  problem.reynolds = 200.0;
  problem.scheme = scheme;
  problem.time_step = 0.04;
  return problem;
}

/// All fields bit by bit; empty away from rank 0.
void check_same(const FlowState& one, const FlowState& other) {
  CHECK(one.u == other.u);
  CHECK(one.v == other.v);
  CHECK(one.p == other.p);
  CHECK(one.u_before == other.u_before);
  CHECK(one.v_before == other.v_before);
  CHECK(one.steps == other.steps);
  CHECK(one.time == other.time);
}

/// Everyone gets what rank 0 has gathered.
FlowState everywhere(FlowState state, const Problem& problem) {
  const std::size_t cells = static_cast<std::size_t>(problem.rows * problem.columns);
  for (auto* const field : {&state.u, &state.v, &state.p, &state.u_before, &state.v_before}) {
    field->resize(cells);
    MPI_Bcast(field->data(), static_cast<int>(cells), MPI_DOUBLE, 0, steelyard::tests::session().comm());
  }
  return state;
}

}  // namespace

TEST_CASE("a flow is the same bits however rows are shared out") {
  TestUnits units;
  for (const auto& [scheme, numerics] :
       {std::pair{TimeScheme::euler, Numerics{Reductions::separate, Preconditioner::none, {}, {}}},
        {TimeScheme::crank_nicolson, {Reductions::merged, Preconditioner::none, {}, {}}},
        {TimeScheme::euler, {Reductions::separate, Preconditioner::multigrid, {}, {}}},
        {TimeScheme::crank_nicolson, {Reductions::merged, Preconditioner::multigrid, {}, {}}}}) {
    const Problem problem = small_problem(scheme);
    const auto shares = units.shares(problem.rows);
    FlowRun first(units, problem, numerics, shares.front());
    const StepReport report = first.steps(3);
    const FlowState state = first.flow.gather();
    for (const auto& share : shares) {
      FlowRun other(units, problem, numerics, share);
      const StepReport other_report = other.steps(3);
      check_same(other.flow.gather(), state);
      CHECK(other_report.change == report.change);
      CHECK(other_report.mass_imbalance == report.mass_imbalance);
      CHECK(other_report.momentum.residual == report.momentum.residual);
      CHECK(other_report.pressure.back().residual == report.pressure.back().residual);
    }
  }
}

TEST_CASE("all ways to solve the same equations give the same flow") {
  TestUnits units;
  const Problem problem = small_problem(TimeScheme::euler);
  std::vector<FlowState> states;
  for (const Reductions reductions : {Reductions::separate, Reductions::merged}) {
    for (const Preconditioner preconditioner : {Preconditioner::none, Preconditioner::multigrid}) {
      Numerics numerics{reductions, preconditioner, {}, {}};
      numerics.pressure.relative = numerics.momentum.relative = 1e-11;
      FlowRun run(units, problem, numerics);
      run.steps(3);
      states.push_back(run.flow.gather());
    }
  }
  for (const FlowState& state : states) CHECK(cavity::tests::velocity_difference(state, states.front()) < 1e-9);
}

TEST_CASE("a step whose equations are not solved says so on all ranks") {
  TestUnits units;
  Numerics numerics;
  numerics.preconditioner = Preconditioner::none;
  numerics.pressure.most_iterations = 3;
  FlowRun pressure(units, small_problem(TimeScheme::euler), numerics);
  CHECK_THROWS_AS(pressure.step(), SolveFailure);
  numerics.momentum.most_iterations = 1;
  FlowRun momentum(units, small_problem(TimeScheme::euler), numerics);
  CHECK_THROWS_AS(momentum.step(), SolveFailure);
}

TEST_CASE("a flow goes on from a state as if it had never been put away") {
  TestUnits units;
  for (const TimeScheme scheme : {TimeScheme::euler, TimeScheme::crank_nicolson}) {
    const Problem problem = small_problem(scheme);
    FlowRun through(units, problem);
    through.steps(3);
    const FlowState between = everywhere(through.flow.gather(), problem);
    through.steps(3);

    // With other shares, too.
    FlowRun again(units, problem, {}, units.shares(problem.rows).back());
    again.flow.load(between);
    CHECK(again.flow.steps() == 3);
    CHECK(again.flow.time() == between.time);
    check_same(everywhere(again.flow.gather(), problem), between);
    again.steps(3);
    check_same(again.flow.gather(), through.flow.gather());
  }
}

TEST_CASE("what flows out of cells is what the last pressure solution left over") {
  TestUnits units;
  for (const auto& [rows, columns, height] : {std::tuple{24, 20, 1.3}, {20, 40, 0.5}, {40, 20, 2.0}}) {
    Problem problem = small_problem(TimeScheme::euler);
    problem.rows = rows;
    problem.columns = columns;
    problem.height = height;
    Numerics numerics;
    numerics.pressure.relative = 1e-7;
    FlowRun run(units, problem, numerics);
    for (int step = 0; step < 6; ++step) {
      const StepReport report = run.step();
      const SolveReport& last = report.pressure.back();
      CHECK(report.pressure.size() == 2);
      CHECK(last.residual <= SolveMonitor::slack * 1e-7 * last.right_side);
      const double edge = std::max(problem.dx(), problem.dy());
      CHECK(report.mass_imbalance * edge <= last.residual + 1e-15);
      const FlowState state = run.flow.gather();
      if (steelyard::tests::session().rank() != 0) continue;
      const std::vector<double> fluxes = cavity::tests::net_fluxes(problem, state);
      CHECK(std::abs(cavity::tests::largest(fluxes) - report.mass_imbalance * edge) < 1e-16);
      CHECK(std::abs(cavity::tests::norm(fluxes) - last.residual) < 1e-3 * last.residual + 1e-15);
    }
  }
}

TEST_CASE("walls stay walls and pressure has no mean") {
  TestUnits units;
  const Problem problem = small_problem(TimeScheme::euler);
  FlowRun run(units, problem);
  run.steps(5);
  const FlowState state = run.flow.gather();
  if (steelyard::tests::session().rank() != 0) return;
  double total = 0.0;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    CHECK(state.u_at(j, 0) == 0.0);
    for (std::int64_t i = 0; i < problem.columns; ++i) total += state.p_at(j, i);
  }
  for (std::int64_t i = 0; i < problem.columns; ++i) CHECK(state.v_at(0, i) == 0.0);
  CHECK(std::abs(total) < 1e-12);
}

TEST_CASE("flows that cannot be are refused") {
  TestUnits units;
  const auto refused = [&](auto change) {
    Problem problem = small_problem(TimeScheme::euler);
    change(problem);
    CHECK_THROWS_AS(FlowRun(units, problem, {}, units.shares(24)[1]), InvalidArgument);
  };
  refused([](Problem& problem) { problem.rows = 25; });
  refused([](Problem& problem) { problem.columns = 0; });
  refused([](Problem& problem) { problem.height = 0.0; });
  refused([](Problem& problem) { problem.reynolds = -1.0; });
  refused([](Problem& problem) { problem.time_step = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Problem& problem) { problem.correctors = 0; });
  FlowRun run(units, small_problem(TimeScheme::euler));
  Problem other = small_problem(TimeScheme::euler);
  other.columns = 19;
  CHECK_THROWS_AS(run.flow.load(FlowState::at_rest(other)), InvalidArgument);
}

TEST_CASE("a flow fits into the memory that the kernel's facts say, and needs more than half of it") {
  TestUnits units;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{300, 64}, {60, 513}, {200, 200}}) {
    Problem problem = small_problem(TimeScheme::crank_nicolson);
    problem.rows = rows;
    problem.columns = columns;
    problem.time_step = 1e-3;
    const KernelFacts facts = MeasuredKernel(problem, {}).facts();
    const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(rows);
    for (const auto reductions : {Reductions::separate, Reductions::merged}) {
      for (const std::size_t way : {0, 2}) {
        CAPTURE(rows, columns, static_cast<int>(reductions), way);
        const steelyard::tests::Allocations fields("steelyard::sweep::field");
        FlowRun run(units, problem, {reductions, Preconditioner::multigrid, {}, {}}, units.shares(rows)[way]);
        run.step();
        const int owner = units.slots()[way == 0 ? 0 : units.slots().size() - 1].rank;
        if (owner != steelyard::tests::session().rank()) continue;
        // Other units of the rank have ghost rows of their fields.
        CHECK(fields.bytes() <= told + facts.memory_bytes_fixed);
        CHECK(fields.bytes() >= 0.5 * told);
      }
    }
  }
}

}  // namespace steelyard::test_flow
