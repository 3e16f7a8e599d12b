#include <tuple>

#include "miniapps/cavity/output/flow_analysis.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/flow_run.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_flow_accuracy {

using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::FlowRun;
using steelyard::cavity::tests::TestUnits;

namespace {

Problem square(std::int64_t cells, double time_step, TimeScheme scheme = TimeScheme::euler) {
  Problem problem = cavity_of(cells, cells);
  problem.time_step = time_step;
  problem.scheme = scheme;
  return problem;
}

/// Largest difference of two velocity fields.
double velocity_difference(const FlowState& one, const FlowState& other) {
  double most = 0.0;
  for (std::size_t k = 0; k < one.u.size(); ++k) {
    most = std::max({most, std::abs(one.u[k] - other.u[k]), std::abs(one.v[k] - other.v[k])});
  }
  return most;
}

Numerics tight(double relative) {
  Numerics numerics;
  numerics.pressure.relative = numerics.momentum.relative = relative;
  return numerics;
}

/// A flow from the same start at a time when it is smooth, in so many steps.
FlowState advanced(TestUnits& units, const FlowState& start, TimeScheme scheme, double length, int steps) {
  FlowRun run(units, square(32, length / steps, scheme), tight(1e-11));
  run.flow.load(start);
  run.steps(steps);
  return run.flow.gather();
}

/// Orders of convergence in time of the velocity, from errors of 10, 20 and 40 steps against 320.
std::vector<double> orders(TimeScheme scheme) {
  TestUnits units;
  FlowRun begin(units, square(32, 0.01), tight(1e-11));
  begin.steps(50);
  FlowState start = begin.flow.gather();
  start.u_before = start.u;
  start.v_before = start.v;
  const double length = 0.5;
  const FlowState exact = advanced(units, start, TimeScheme::crank_nicolson, length, 320);
  std::vector<double> errors;
  for (const int steps : {10, 20, 40}) {
    errors.push_back(velocity_difference(advanced(units, start, scheme, length, steps), exact));
  }
  return {std::log2(errors[0] / errors[1]), std::log2(errors[1] / errors[2])};
}

}  // namespace

TEST_CASE("the steady flow at Reynolds number 100 is Ghia's", "[accuracy]") {
  TestUnits units;
  // A dx in the place of a dy would show.
  Problem problem = cavity_of(80, 64);
  problem.time_step = 1.0 / 64.0;
  FlowRun run(units, problem, tight(1e-7));
  const StepReport last = run.until_steady(1e-5, 4000);
  CHECK(last.change < 1e-5);
  // Ghia's v is not more exact than this: ours differs from it by as much on finer grids.
  CHECK(largest_difference(ghia_comparison(problem, run.flow.gather())) < 0.01);
}

TEST_CASE("the steady flow is of second order in space", "[accuracy][order]") {
  TestUnits units;
  std::vector<double> through_flows, velocities;
  for (const std::int64_t cells : {16, 32, 64}) {
    FlowRun run(units, square(cells, 1.0 / static_cast<double>(cells)), tight(1e-8));
    const StepReport last = run.until_steady(1e-7, 4000);
    CHECK(last.change < 1e-7);
    const FlowState state = run.flow.gather();
    const std::int64_t middle = cells / 2;
    // What flows through the line from the lower wall to the cavity's centre: the stream function there.
    double through = 0.0;
    for (std::int64_t j = 0; j < middle; ++j) through += state.u_at(j, middle) / static_cast<double>(cells);
    through_flows.push_back(through);
    velocities.push_back(0.5 * (state.u_at(middle - 1, middle) + state.u_at(middle, middle)));
  }
  for (const auto& values : {through_flows, velocities}) {
    CAPTURE(values);
    CHECK(std::log2((values[0] - values[1]) / (values[1] - values[2])) > 1.8);
  }
}

TEST_CASE("the steady flow does not depend on the time step and its scheme", "[accuracy][order]") {
  TestUnits units;
  std::vector<FlowState> states;
  for (const auto& [step, scheme, correctors] : {std::tuple{1.0 / 32.0, TimeScheme::euler, 2},
                                                 {1.0 / 64.0, TimeScheme::crank_nicolson, 2},
                                                 {1.0 / 32.0, TimeScheme::euler, 3}}) {
    Problem problem = square(32, step, scheme);
    problem.correctors = correctors;
    FlowRun run(units, problem, tight(1e-9));
    double before = 1e300;
    // Once the vortex has formed, the change dies away.
    for (int turn = 0; turn < 40; ++turn) {
      const double change = run.steps(static_cast<int>(1.0 / step)).change;
      if (turn > 10) CHECK(change < before);
      before = change;
      if (change < 1e-6) break;
    }
    CHECK(before < 1e-6);
    states.push_back(run.flow.gather());
  }
  CHECK(velocity_difference(states[0], states[1]) < 1e-5);
  CHECK(velocity_difference(states[0], states[2]) < 1e-5);
}

TEST_CASE("implicit Euler is of first order in time, Crank-Nicolson of second", "[accuracy][order]") {
  for (const double order : orders(TimeScheme::euler)) CHECK(order > 0.9);
  for (const double order : orders(TimeScheme::crank_nicolson)) CHECK(order > 1.8);
}

}  // namespace steelyard::test_flow_accuracy
