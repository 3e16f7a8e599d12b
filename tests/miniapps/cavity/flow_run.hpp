#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "miniapps/cavity/flow.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/cavity/solvers/field_norms.hpp"

namespace steelyard::cavity::tests {

using steelyard::tests::TestUnits;

/// A flow whose rows are shared out among the test's units; even shares unless told otherwise.
class FlowRun {
 public:
  FlowRun(TestUnits& units, const Problem& problem, const Numerics& numerics = {})
      : FlowRun(units, problem, numerics, units.shares(problem.rows)[1]) {}
  FlowRun(TestUnits& units, const Problem& problem, const Numerics& numerics, const std::vector<std::int64_t>& shares)
      : flow(steelyard::tests::session(), units.co_execution(), steelyard::tests::started_units(), units.slots(),
             problem, numerics, shares) {}

  StepReport step() { return flow.step(times); }
  StepReport steps(int count) {
    StepReport last;
    for (int i = 0; i < count; ++i) last = step();
    return last;
  }
  /// Goes on until no velocity changes faster than `change`, or for `most` steps.
  StepReport until_steady(double change, int most) {
    StepReport last = step();
    for (int i = 1; i < most && last.change >= change; ++i) last = step();
    return last;
  }

  Flow flow;
  FlowTimes times;
};

inline Problem square(std::int64_t cells, double reynolds, double time_step, TimeScheme scheme = TimeScheme::euler) {
  Problem problem;
  problem.rows = problem.columns = cells;
  problem.reynolds = reynolds;
  problem.time_step = time_step;
  problem.scheme = scheme;
  return problem;
}

/// Net fluxes out of all cells.
inline std::vector<double> net_fluxes(const Problem& problem, const FlowState& state) {
  std::vector<double> fluxes;
  for (std::int64_t j = 0; j < state.rows; ++j) {
    for (std::int64_t i = 0; i < state.columns; ++i) {
      fluxes.push_back(problem.dy() * (state.u_at(j, i + 1) - state.u_at(j, i)) +
                       problem.dx() * (state.v_at(j + 1, i) - state.v_at(j, i)));
    }
  }
  return fluxes;
}

/// Largest difference of two velocity fields.
inline double velocity_difference(const FlowState& one, const FlowState& other) {
  double most = 0.0;
  for (std::size_t k = 0; k < one.u.size(); ++k) {
    most = std::max({most, std::abs(one.u[k] - other.u[k]), std::abs(one.v[k] - other.v[k])});
  }
  return most;
}

}  // namespace steelyard::cavity::tests
