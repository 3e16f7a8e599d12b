#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity::tests {

inline Problem cavity_of(std::int64_t rows, std::int64_t columns, double height = 1.0, double reynolds = 100.0) {
  Problem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.height = height;
  problem.reynolds = reynolds;
  problem.time_step = 0.01;
  return problem;
}

/// The flow whose fluxes through faces are differences of psi(x, y) at their ends: every cell conserves mass. psi must
/// be 0 on the walls.
template <class Psi>
FlowState flow_of(const Problem& problem, const Psi& psi) {
  FlowState state = FlowState::at_rest(problem);
  const auto at = [&](std::int64_t j, std::int64_t i) {
    const bool wall = j == 0 || i == 0 || j == problem.rows || i == problem.columns;
    return wall ? 0.0 : psi(static_cast<double>(i) * problem.dx(), static_cast<double>(j) * problem.dy());
  };
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      state.u[state.index(j, i)] = (at(j + 1, i) - at(j, i)) / problem.dy();
      state.v[state.index(j, i)] = -(at(j, i + 1) - at(j, i)) / problem.dx();
    }
  }
  return state;
}

/// A flow with u(x, y) and v(x, y) at its faces, walls excepted, and p(x, y) in its cells.
template <class U, class V, class P>
FlowState flow_of(const Problem& problem, const U& u, const V& v, const P& p) {
  FlowState state = FlowState::at_rest(problem);
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      const double x = static_cast<double>(i) * problem.dx();
      const double y = static_cast<double>(j) * problem.dy();
      const double centre_x = x + 0.5 * problem.dx();
      const double centre_y = y + 0.5 * problem.dy();
      if (i > 0) state.u[state.index(j, i)] = u(x, centre_y);
      if (j > 0) state.v[state.index(j, i)] = v(centre_x, y);
      state.p[state.index(j, i)] = p(centre_x, centre_y);
    }
  }
  return state;
}

/// Different values everywhere, 0 on walls, after some steps.
inline FlowState random_flow(const Problem& problem, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto value = [&](double, double) { return normal(random); };
  FlowState state = flow_of(problem, value, value, value);
  const FlowState before = flow_of(problem, value, value, value);
  state.u_before = before.u;
  state.v_before = before.v;
  state.steps = 123456789;
  state.time = 0.1 + 0.2;
  return state;
}

}  // namespace steelyard::cavity::tests
