#pragma once

#include "miniapps/cavity/solve_report.hpp"

namespace steelyard::cavity {

/// Whether sums that a solver's iteration needs are gathered one by one as in the paper, or all at once.
enum class Reductions { separate, merged };
enum class PreconditionerKind { none, jacobi, multigrid };

/// How the linear systems of a time step are solved.
struct Numerics {
  Reductions reductions = Reductions::separate;
  PreconditionerKind pressure_preconditioner = PreconditionerKind::multigrid;
  PreconditionerKind momentum_preconditioner = PreconditionerKind::none;  ///< none or jacobi
  SolveSettings pressure;
  SolveSettings momentum;
};

}  // namespace steelyard::cavity
