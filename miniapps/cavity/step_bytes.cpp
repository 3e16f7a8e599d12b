#include "miniapps/cavity/step_bytes.hpp"

namespace steelyard::cavity {
namespace {

constexpr double word = sizeof(double);

}  // namespace

double step_bytes(const Problem& problem, const Numerics& numerics, double momentum_iterations,
                  double pressure_iterations) {
  const double cells = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  const bool merged = numerics.reductions == Reductions::merged;
  // BiCGSTAB's values of each component, and what convects in both products with the matrix.
  double momentum = 2.0 * (merged ? 15.0 : 17.0) + 4.0;
  if (numerics.momentum_preconditioner == PreconditionerKind::jacobi) momentum += 2.0 * (merged ? 4.0 : 3.0);
  double pressure = 8.0;
  if (merged && numerics.pressure_preconditioner != PreconditionerKind::none) pressure += 3.0;
  if (numerics.pressure_preconditioner == PreconditionerKind::multigrid) {
    // r^T z is a sweep of its own where sums are not merged; a V-cycle's 45 bytes a cell.
    pressure += (merged ? 0.0 : 2.0) + 45.0 / word;
  }
  // Right-hand sides, estimate, divergence, correction and what is looked at.
  const double rest = 14.0 + 14.0 * problem.correctors;
  return word * cells * (momentum_iterations * momentum + pressure_iterations * pressure + rest);
}

}  // namespace steelyard::cavity
