#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "miniapps/app/verification.hpp"
#include "miniapps/cavity/flow.hpp"
#include "tests/miniapps/cavity/flow_run.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_mass_check {

using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;
using steelyard::cavity::tests::FlowRun;
using steelyard::cavity::tests::TestUnits;
using steelyard::tests::session;

namespace {

constexpr double rounding = 64.0 * std::numeric_limits<double>::epsilon();

/// A flow of fluxes that are differences of numbers with few digits: where edges are powers of 2, what flows out of any
/// cell is exactly 0.
FlowState conserving_flow(const Problem& problem) {
  return flow_of(problem, [&](double x, double y) {
    const auto i = std::llround(x / problem.dx()), j = std::llround(y / problem.dy());
    return std::ldexp(static_cast<double>((i * 7919 + j * 104729) % 2003 - 1001), -12);
  });
}

/// Lets fluid of speed `amount` out through all faces of a cell but walls.
/// @return the net flux out of the cell over the longer edge, more than out of any other
double add_source(const Problem& problem, FlowState& state, std::int64_t j, std::int64_t i, double amount) {
  double flux = 0.0;
  const auto let_out = [&](std::vector<double>& speeds, std::size_t face, double speed, double edge) {
    speeds[face] += speed;
    flux += edge * std::abs(speed);
  };
  if (i > 0) let_out(state.u, state.index(j, i), -amount, problem.dy());
  if (i + 1 < problem.columns) let_out(state.u, state.index(j, i + 1), amount, problem.dy());
  if (j > 0) let_out(state.v, state.index(j, i), -amount, problem.dx());
  if (j + 1 < problem.rows) let_out(state.v, state.index(j + 1, i), amount, problem.dx());
  return flux / std::max(problem.dx(), problem.dy());
}

/// What is found after a step; where it began does not matter then.
FoundError after_a_step(const Problem& problem, const FlowState& state, RunLog log = {}) {
  log.steps = std::max<std::int64_t>(1, log.steps);
  return check_mass(problem, FlowState(), state, log);
}

/// What all ranks make of what each has found.
CheckResult verdict(const FoundError& found) {
  CheckResult check;
  add_check(session(), check, found);
  return check;
}

CheckResult verdict(const Problem& problem, const FlowState& state, const RunLog& log = {}) {
  return verdict(after_a_step(problem, state, log));
}

Problem with_numbers_of_few_digits(double height) { return cavity_of(16, 32, height); }

}  // namespace

TEST_CASE("a source in any one cell is found exactly, however rows are shared out, by all ranks") {
  TestUnits units;
  for (const double height : {1.0, 0.25}) {
    const Problem problem = with_numbers_of_few_digits(height);
    const FlowState right = conserving_flow(problem);
    std::vector<std::pair<std::int64_t, std::int64_t>> cells = {{0, 31}, {15, 0}, {15, 31}};
    for (std::int64_t j = 0; j < problem.rows; ++j) cells.emplace_back(j, j * 5 % problem.columns);
    for (const auto& share : units.shares(problem.rows)) {
      FlowRun run(units, problem, {}, share);
      run.flow.load(right);
      const CheckResult passed = verdict(problem, run.flow.gather());
      CHECK(passed.passed);
      CHECK(passed.error == 0.0);
      for (const auto& [j, i] : cells) {
        CAPTURE(height, j, i);
        FlowState state = right;
        const double expected = add_source(problem, state, j, i, std::ldexp(j % 2 == 0 ? 3.0 : -1.0, -20));
        run.flow.load(state);
        const FlowState gathered = run.flow.gather();
        const FoundError found = after_a_step(problem, gathered);
        CHECK(found.error == (session().rank() == 0 ? expected : 0.0));
        CHECK(verdict(found).error == expected);
        CHECK_FALSE(verdict(found).passed);
      }
    }
  }
}

TEST_CASE("what one face lets in one cell out of the other counts once, over the longer edge") {
  for (const auto& [rows, columns, height] : {std::tuple{16, 32, 1.0}, {32, 16, 1.0}, {16, 16, 4.0}, {16, 16, 0.25}}) {
    const Problem problem = cavity_of(rows, columns, height);
    const double edge = std::max(problem.dx(), problem.dy());
    FlowState state = FlowState::at_rest(problem);
    state.u[state.index(3, 7)] = 0.5;
    CHECK(net_flux(problem, state) == 0.5 * problem.dy() / edge);
    state = FlowState::at_rest(problem);
    state.v[state.index(7, 3)] = -0.5;
    CHECK(net_flux(problem, state) == 0.5 * problem.dx() / edge);
  }
}

TEST_CASE("rounding is no loss of mass, on any grid") {
  for (const double height : {0.3, 1.0, 2.5}) {
    for (const std::int64_t cells : {2, 7, 53, 200}) {
      const Problem problem = cavity_of(cells + 3, cells, height);
      const double slower = 0.5 * std::min(problem.dx(), problem.dy());
      const FlowState state = flow_of(problem, [&](double x, double y) {
        return slower * std::sin(1.0 / problem.dx() * x * 1.7 + 3.1 * y / problem.dy());
      });
      CHECK(net_flux(problem, state) <= rounding);
      CHECK(after_a_step(problem, state).error == net_flux(problem, state));
    }
  }
}

TEST_CASE("what a step has found counts as well, and tolerance is what pressure solves allow and rounding") {
  const Problem problem = with_numbers_of_few_digits(1.0);
  FlowState state = FlowState::at_rest(problem);
  for (const double allowed : {0.0, 1e-6, 0.25}) {
    RunLog log;
    log.mass_tolerance = allowed;
    for (const double imbalance : {0.0, allowed, allowed + 2.0 * rounding, 0.5}) {
      CAPTURE(allowed, imbalance);
      log.mass_imbalance = imbalance;
      const FoundError found = after_a_step(problem, state, log);
      CHECK(found.error == imbalance);
      CHECK(found.tolerance == allowed + rounding);
      CHECK(found.against == "conservation of mass in every cell at every step");
      CHECK(verdict(found).passed == (imbalance <= allowed));
    }
  }
  // The larger of both counts.
  RunLog log;
  log.mass_imbalance = 0.125;
  state.u[state.index(3, 7)] = 0.5;
  CHECK(after_a_step(problem, state, log).error == 0.5);
  log.mass_imbalance = 0.75;
  CHECK(after_a_step(problem, state, log).error == 0.75);
}

TEST_CASE("a flow of no steps may have lost what the first state had lost, and no more") {
  const Problem problem = with_numbers_of_few_digits(1.0);
  FlowState start = conserving_flow(problem), worse = start;
  const double lost = add_source(problem, start, 3, 7, 0.125);
  add_source(problem, worse, 3, 7, 0.25);
  CHECK(check_mass(problem, start, start, {}).tolerance == lost + rounding);
  CHECK(verdict(check_mass(problem, start, start, {})).passed);
  CHECK_FALSE(verdict(check_mass(problem, start, worse, {})).passed);
  CHECK_FALSE(verdict(after_a_step(problem, start)).passed);
}

TEST_CASE("ranks without a state find nothing, whatever the steps have found") {
  RunLog log;
  log.mass_imbalance = 0.75;
  CHECK(after_a_step(cavity_of(16, 32), FlowState(), log).error == 0.0);
}

TEST_CASE("velocities and pressures that are not finite fail, wherever they are") {
  const Problem problem = with_numbers_of_few_digits(1.0);
  const double infinity = std::numeric_limits<double>::infinity();
  RunLog log;
  log.mass_tolerance = 1.0;
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
    for (const auto field : {&FlowState::u, &FlowState::v, &FlowState::p}) {
      for (const auto& [j, i] : {std::pair{0, 0}, {15, 31}, {0, 31}, {15, 0}, {7, 9}}) {
        FlowState state = conserving_flow(problem);
        (state.*field)[state.index(j, i)] = value;
        CAPTURE(value, j, i);
        CHECK(net_flux(problem, state) == infinity);
        CHECK_FALSE(verdict(problem, state, log).passed);
      }
    }
  }
}

TEST_CASE("flows pass after any steps, and no longer once a single velocity is wrong") {
  TestUnits units;
  for (const auto& [rows, columns, height] : {std::tuple{24, 20, 1.3}, {20, 40, 0.5}, {40, 20, 2.0}}) {
    Problem problem = cavity_of(rows, columns, height, 200.0);
    problem.time_step = 0.04;
    for (const auto preconditioner : {Preconditioner::none, Preconditioner::multigrid}) {
      Numerics numerics;
      numerics.preconditioner = preconditioner;
      numerics.pressure.relative = 1e-6;
      for (const std::size_t way : {1, 3}) {
        FlowRun run(units, problem, numerics, units.shares(problem.rows)[way]);
        const RunLog log = run_steps(run.flow, problem, numerics.pressure, {4, 0.0}, false);
        FlowState state = run.flow.gather();
        const CheckResult right = verdict(problem, state, log);
        CHECK(right.passed);
        CHECK(right.error > 0.0);
        if (!state.u.empty()) state.u[state.index(rows / 2, columns / 2)] += 20.0 * right.tolerance;
        CHECK_FALSE(verdict(problem, state, log).passed);
      }
    }
  }
}

TEST_CASE("a pressure that was not solved as well as was asked for is found, in any step") {
  TestUnits units;
  Problem problem = cavity_of(24, 20, 1.0, 200.0);
  problem.time_step = 0.04;
  SolveSettings asked;
  asked.relative = 1e-8;
  Numerics careless, careful;
  careless.pressure.relative = 1e-3;
  careful.pressure = asked;
  FlowRun run(units, problem, careless);
  const RunLog log = run_steps(run.flow, problem, asked, {3, 0.0}, false);
  CHECK_FALSE(verdict(problem, run.flow.gather(), log).passed);
  FlowRun other(units, problem, careful);
  RunLog of_other = run_steps(other.flow, problem, asked, {3, 0.0}, false);
  CHECK(verdict(problem, other.flow.gather(), of_other).passed);
  // A good end does not make up for it.
  of_other.mass_imbalance = std::max(of_other.mass_imbalance, log.mass_imbalance);
  CHECK_FALSE(verdict(problem, other.flow.gather(), of_other).passed);
}

}  // namespace steelyard::test_mass_check
