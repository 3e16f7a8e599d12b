#include "miniapps/cavity/step_bytes.hpp"

namespace steelyard::cavity {
namespace {

constexpr double word = sizeof(double);

}  // namespace

double step_bytes(const Problem& problem, const Numerics& numerics, double momentum_iterations,
                  double pressure_iterations) {
  const double cells = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  // BiCGSTAB's 19 values of each component, and what convects in both products with the matrix.
  double momentum = 2.0 * 19.0 + 4.0;
  if (numerics.momentum_preconditioner == PreconditionerKind::jacobi) momentum += 2.0 * 5.0;
  double pressure = 9.0;
  // z beside r, r^T z on its own, and a V-cycle's 45 bytes a cell.
  if (numerics.pressure_preconditioner == PreconditionerKind::multigrid) pressure += 2.0 + 45.0 / word;
  // Right-hand sides, estimate, divergence, correction and what is looked at.
  const double rest = 14.0 + 14.0 * problem.correctors;
  return word * cells * (momentum_iterations * momentum + pressure_iterations * pressure + rest);
}

}  // namespace steelyard::cavity
