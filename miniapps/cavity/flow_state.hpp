#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/solvers/solve_monitor.hpp"

namespace steelyard::cavity {

/// A flow at one time on the whole grid, in host memory: row after row, `columns` values each. u(j, i) is the velocity
/// through the left face of cell (j, i), v(j, i) that through its lower face; the right and the upper wall's are 0 and
/// not kept. The pressure (over density) has mean 0.
struct FlowState {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t steps = 0;  ///< done so far
  double time = 0.0;
  std::vector<double> u;
  std::vector<double> v;
  std::vector<double> p;
  /// Velocity one step ago, for Crank-Nicolson, which extrapolates the convecting velocity; equal to u and v at rest.
  std::vector<double> u_before;
  std::vector<double> v_before;

  /// At rest.
  static FlowState at_rest(const Problem& problem) {
    const auto cells = static_cast<std::size_t>(problem.rows * problem.columns);
    const std::vector<double> zero(cells, 0.0);
    return {problem.rows, problem.columns, 0, 0.0, zero, zero, zero, zero, zero};
  }

  double u_at(std::int64_t j, std::int64_t i) const { return i == columns ? 0.0 : u[index(j, i)]; }
  double v_at(std::int64_t j, std::int64_t i) const { return j == rows ? 0.0 : v[index(j, i)]; }
  double p_at(std::int64_t j, std::int64_t i) const { return p[index(j, i)]; }
  std::size_t index(std::int64_t j, std::int64_t i) const { return static_cast<std::size_t>(j * columns + i); }
};

/// One time step, the same on all ranks.
struct StepReport {
  SolveReport momentum;
  std::vector<SolveReport> pressure;  ///< of each corrector
  double mass_imbalance = 0.0;  ///< largest net flux out of a cell, over lid speed times the longer edge of a cell
  double change = 0.0;          ///< largest change of a velocity in the step, over the time step
};

/// Checks a flow before analyses and files read it.
/// @throws InvalidArgument unless the grid has rows, columns and a height, the flow is on it and all of its fields have
/// a value in each cell
void require_flow_of(const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
