#include "miniapps/cavity/cost.hpp"

#include <algorithm>

#include "models/communication/collective_patterns.hpp"
#include "models/communication/pattern_costs.hpp"

namespace steelyard::cavity {

SyncCosts sync_costs(double row_bytes, int ranks, const models::Platform& platform,
                     const models::Placement& placement) {
  if (ranks < 2) return {};
  // The shortest halo is that of the coarsest grids; what is longer is interpolated.
  constexpr double short_bytes = 512.0;
  constexpr double sum_bytes = 32.0;
  const double long_bytes = std::max(row_bytes, 2.0 * short_bytes);
  const models::MessagePattern patterns[] = {models::recursive_doubling_allreduce(ranks, sum_bytes),
                                             models::halo_1d(ranks, short_bytes), models::halo_1d(ranks, long_bytes)};
  const models::PatternCosts cost = models::pattern_costs(patterns, platform, placement).front();
  SyncCosts costs;
  costs.model = cost.model;
  costs.sum_s = cost.time_s[0];
  costs.byte_s = std::max(0.0, (cost.time_s[2] - cost.time_s[1]) / (long_bytes - short_bytes));
  costs.exchange_s = std::max(0.0, cost.time_s[1] - short_bytes * costs.byte_s);
  return costs;
}

double step_bytes(const Problem& problem, const Numerics& numerics, double momentum_iterations,
                  double pressure_iterations) {
  constexpr double word = sizeof(double);
  const double cells = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  const bool merged = numerics.reductions == Reductions::merged;
  // BiCGSTAB's values of each component, and what convects in both products with the matrix.
  double momentum_values = 2.0 * (merged ? 15.0 : 17.0) + 4.0;
  if (numerics.momentum_preconditioner == PreconditionerKind::jacobi) momentum_values += 2.0 * (merged ? 4.0 : 3.0);
  double pressure_values = 8.0;
  if (merged && numerics.pressure_preconditioner != PreconditionerKind::none) pressure_values += 3.0;
  if (numerics.pressure_preconditioner == PreconditionerKind::multigrid) {
    // r^T z is a sweep of its own where sums are not merged; a V-cycle's 45 bytes a cell.
    pressure_values += (merged ? 0.0 : 2.0) + 45.0 / word;
  }
  // Right-hand sides, estimate, divergence, correction and diagnostics.
  const double rest_values = 14.0 + 14.0 * problem.correctors;
  return word * cells *
         step_sum({momentum_values, pressure_values, rest_values}, momentum_iterations, pressure_iterations);
}

}  // namespace steelyard::cavity
