#pragma once

#include <cstdint>

#include "miniapps/cavity/solvers/solve_monitor.hpp"

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

}  // namespace steelyard::cavity
