#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steelyard::cavity {

enum class TimeScheme { euler, crank_nicolson };

/// A cavity full of fluid whose upper wall moves to the right at speed 1, on a uniform grid of cells: rows from the
/// bottom up, columns from left to right. Lengths are in units of the cavity's width and times in width / lid speed.
/// Source: 000, section 5.3.1.
struct Problem {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  double height = 1.0;      ///< of the cavity, in widths
  double reynolds = 100.0;  ///< lid speed * width / kinematic viscosity
  TimeScheme scheme = TimeScheme::euler;
  int correctors = 2;  ///< of PISO
  double time_step = 0.0;

  double viscosity() const { return 1.0 / reynolds; }
  double dx() const { return 1.0 / static_cast<double>(columns); }
  double dy() const { return height / static_cast<double>(rows); }
  double cells() const { return static_cast<double>(rows) * static_cast<double>(columns); }
  /// A cavity of the same cells with other rows.
  Problem with_rows(std::int64_t count) const {
    Problem other = *this;
    other.rows = count;
    other.height = dy() * static_cast<double>(count);
    return other;
  }
};

/// When a linear solver has done enough: |b - A x|_2 <= relative |b|_2.
struct SolveSettings {
  double relative = 1e-8;
  int most_iterations = 1000;
  int most_restarts = 10;  ///< after breakdowns, and where the recurrence's residual has left the true one
  /// Makes `most_iterations`, fewer only where nothing is left of the residual, and calls the system solved.
  bool fixed_iterations = false;
};

/// Whether sums that a solver's iteration needs are gathered one by one as in the paper, or all at once.
enum class Reductions { separate, merged };
enum class Preconditioner { none, multigrid };

/// How the linear systems of a time step are solved.
struct Numerics {
  Reductions reductions = Reductions::separate;
  Preconditioner preconditioner = Preconditioner::multigrid;  ///< of the pressure's equation
  SolveSettings pressure;
  SolveSettings momentum;

  bool merged() const { return reductions == Reductions::merged; }
  bool multigrid() const { return preconditioner == Preconditioner::multigrid; }
};

/// Iterations of a time step: of BiCGSTAB for momentum, and of CG in all pressure solves, with a V-cycle each where
/// multigrid is the preconditioner.
struct Iterations {
  double momentum = 0.0;
  double pressure = 0.0;
};

/// When a run ends: with whatever comes first.
struct RunEnd {
  std::int64_t steps = 0;
  double steady = 0.0;  ///< once no velocity changes faster than this; 0 for never
};

enum class SolveOutcome { converged, too_many_iterations, stagnated, broke_down, not_finite };

/// Statistics of a linear solve, the same on all units.
struct SolveReport {
  SolveOutcome outcome = SolveOutcome::converged;
  int iterations = 0;
  int restarts = 0;
  double right_side = 0.0;  ///< |b|_2
  double tolerance = 0.0;   ///< what the residual had to come down to
  double residual = 0.0;    ///< at the end: where converged the true one, otherwise the recurrence's
};

/// One time step, the same on all ranks.
struct StepReport {
  SolveReport momentum;
  std::vector<SolveReport> pressure;  ///< of each corrector
  double mass_imbalance = 0.0;  ///< largest net flux out of a cell, over lid speed times the longer edge of a cell
  double change = 0.0;          ///< largest change of a velocity in the step, over the time step
};

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

  static FlowState at_rest(const Problem& problem) {
    const std::vector<double> zero(static_cast<std::size_t>(problem.rows * problem.columns), 0.0);
    return {problem.rows, problem.columns, 0, 0.0, zero, zero, zero, zero, zero};
  }

  double u_at(std::int64_t j, std::int64_t i) const { return i == columns ? 0.0 : u[index(j, i)]; }
  double v_at(std::int64_t j, std::int64_t i) const { return j == rows ? 0.0 : v[index(j, i)]; }
  std::size_t index(std::int64_t j, std::int64_t i) const { return static_cast<std::size_t>(j * columns + i); }
};

using FlowField = std::vector<double> FlowState::*;
/// Fields of a flow, with their names.
inline constexpr std::array<std::pair<const char*, FlowField>, 5> flow_fields = {{{"u", &FlowState::u},
                                                                                  {"v", &FlowState::v},
                                                                                  {"p", &FlowState::p},
                                                                                  {"u_before", &FlowState::u_before},
                                                                                  {"v_before", &FlowState::v_before}}};

/// u, v and p after a step of PISO with implicit Euler, see UnitFlow, by the textbook: with matrices that are stored
/// and in more than double precision. Source: 000, section 5.3.1.
std::vector<double> reference_step(const Problem& problem, const FlowState& start);

}  // namespace steelyard::cavity
