#pragma once

#include <cmath>

#include "miniapps/cavity/solve_report.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

/// Conjugate gradients on one unit's part of a grid, together with all other units. Source: 000, Algorithm 2.
///
/// An iteration sweeps three times: p = z + beta p; p^T A p; then x and r, for which A p is computed once more, since
/// that costs no memory traffic but p's own: 72 bytes a cell without a preconditioner.
template <class Execution>
class ConjugateGradient {
 public:
  using Field = RowField<Execution>;

  explicit ConjugateGradient(const UnitGrid<Execution>& grid)
      : grid_(grid), r_(grid.field()), p_(grid.field()), z_(grid.field()) {}

  /// Solves A x = b from the x given, A symmetric and positive definite, or semi-definite with b in its range. All units
  /// call it. @param b is read in the unit's own rows; x's ghost rows are not valid afterwards
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    const auto b = right_side.access(), x = solution.access(), r = r_.access(), p = p_.access();
    const auto z = Preconditioner::is_identity ? r : z_.access();
    SolveReport report;
    const auto start = grid_.template totals_with_halo<2>(
        solution, "steelyard::cavity::cg_residual", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          const double residual = b(j, i) - matrix(x, 0, j, i);
          r(j, i) = residual;
          Terms<2> terms;
          terms.of[0] = residual * residual;
          terms.of[1] = b(j, i) * b(j, i);
          return terms;
        });
    report.initial_residual = std::sqrt(start[0]);
    report.right_side = std::sqrt(start[1]);
    const double enough = settings.relative * report.right_side + settings.absolute;
    double rr = start[0];
    double old_rz = 0.0;
    for (report.residual = report.initial_residual;; report.residual = std::sqrt(rr)) {
      if (settings.keep_history) report.history.push_back(report.residual);
      if (!std::isfinite(report.residual)) return ended(report, SolveOutcome::not_finite);
      if (report.residual <= enough) return report;
      if (report.iterations == settings.most_iterations) return ended(report, SolveOutcome::too_many_iterations);
      double rz = rr;
      if constexpr (!Preconditioner::is_identity) {
        preconditioner.apply(grid_, r_, z_);
        rz = grid_.template totals<1>(
            "steelyard::cavity::cg_rz",
            KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { return Terms<1>{{r(j, i) * z(j, i)}}; })[0];
      }
      const double beta = report.iterations == 0 ? 0.0 : rz / old_rz;
      old_rz = rz;
      grid_.for_cells("steelyard::cavity::cg_direction",
                      KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
                        p(j, i) = beta == 0.0 ? z(j, i) : z(j, i) + beta * p(j, i);
                      });
      const double pap = grid_.template totals_with_halo<1>(
          p_, "steelyard::cavity::cg_curvature", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            return Terms<1>{{p(j, i) * matrix(p, 0, j, i)}};
          })[0];
      if (!(pap > 0.0)) return ended(report, std::isfinite(pap) ? SolveOutcome::broke_down : SolveOutcome::not_finite);
      const double alpha = rz / pap;
      rr = grid_.template totals<1>(
          "steelyard::cavity::cg_update", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            x(j, i) += alpha * p(j, i);
            const double residual = r(j, i) - alpha * matrix(p, 0, j, i);
            r(j, i) = residual;
            return Terms<1>{{residual * residual}};
          })[0];
      ++report.iterations;
    }
  }

 private:
  static SolveReport ended(SolveReport report, SolveOutcome outcome) {
    report.outcome = outcome;
    return report;
  }

  const UnitGrid<Execution>& grid_;
  Field r_;
  Field p_;
  Field z_;
};

}  // namespace steelyard::cavity
