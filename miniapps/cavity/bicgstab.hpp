#pragma once

#include <cmath>

#include "miniapps/cavity/solve_report.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

/// Stabilised bi-conjugate gradients on one unit's part of a grid, together with all other units, for fields of any
/// number of components, which are one vector to it. Source: 000, Algorithm 3.
///
/// An iteration sweeps five times: v = A p with r0^T v; s = r - alpha v, in place; t = A s with t^T s and t^T t; x and
/// r with r^T r and r0^T r; then p: 184 bytes a value and what A itself reads, without a preconditioner.
template <class Execution, int Components>
class BiCgStab {
 public:
  using Field = RowField<Execution, Components>;

  explicit BiCgStab(const UnitGrid<Execution>& grid)
      : grid_(grid),
        r_(grid.template field<Components>()),
        shadow_(grid.template field<Components>()),
        p_(grid.template field<Components>()),
        v_(grid.template field<Components>()),
        t_(grid.template field<Components>()) {}

  /// Solves A x = b from the x given. All units call it. @param b is read in the unit's own rows; x's ghost rows are not
  /// valid afterwards
  template <class Operator>
  SolveReport solve(const Operator& matrix, const Field& right_side, Field& solution, const SolveSettings& settings) {
    const auto b = right_side.access(), x = solution.access(), r = r_.access(), shadow = shadow_.access(),
               p = p_.access(), v = v_.access(), t = t_.access();
    SolveReport report;
    const auto start = grid_.template totals_with_halo<2>(
        solution, "steelyard::cavity::bicgstab_residual", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          Terms<2> terms;
          for (int c = 0; c < Components; ++c) {
            const double residual = b(c, j, i) - matrix(x, c, j, i);
            r(c, j, i) = residual;
            shadow(c, j, i) = residual;
            p(c, j, i) = residual;
            terms.of[0] += residual * residual;
            terms.of[1] += b(c, j, i) * b(c, j, i);
          }
          return terms;
        });
    report.initial_residual = std::sqrt(start[0]);
    report.right_side = std::sqrt(start[1]);
    const double enough = settings.relative * report.right_side + settings.absolute;
    double rr = start[0];
    double shadow_r = start[0];
    for (report.residual = report.initial_residual;; report.residual = std::sqrt(rr)) {
      if (settings.keep_history) report.history.push_back(report.residual);
      if (!std::isfinite(report.residual)) return ended(report, SolveOutcome::not_finite);
      if (report.residual <= enough) return report;
      if (report.iterations == settings.most_iterations) return ended(report, SolveOutcome::too_many_iterations);
      const double shadow_v = grid_.template totals_with_halo<1>(
          p_, "steelyard::cavity::bicgstab_v", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            Terms<1> terms;
            for (int c = 0; c < Components; ++c) {
              const double value = matrix(p, c, j, i);
              v(c, j, i) = value;
              terms.of[0] += shadow(c, j, i) * value;
            }
            return terms;
          })[0];
      if (shadow_v == 0.0) return ended(report, SolveOutcome::broke_down);
      const double alpha = shadow_r / shadow_v;
      const double ss = grid_.template totals<1>(
          "steelyard::cavity::bicgstab_s", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            Terms<1> terms;
            for (int c = 0; c < Components; ++c) {
              const double value = r(c, j, i) - alpha * v(c, j, i);
              r(c, j, i) = value;
              terms.of[0] += value * value;
            }
            return terms;
          })[0];
      ++report.iterations;
      if (std::sqrt(ss) <= enough) {
        grid_.for_cells("steelyard::cavity::bicgstab_half", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
              for (int c = 0; c < Components; ++c) x(c, j, i) += alpha * p(c, j, i);
            });
        rr = ss;
        continue;
      }
      const auto t_sums = grid_.template totals_with_halo<2>(
          r_, "steelyard::cavity::bicgstab_t", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            Terms<2> terms;
            for (int c = 0; c < Components; ++c) {
              const double value = matrix(r, c, j, i);
              t(c, j, i) = value;
              terms.of[0] += value * r(c, j, i);
              terms.of[1] += value * value;
            }
            return terms;
          });
      if (t_sums[1] == 0.0) return ended(report, SolveOutcome::broke_down);
      const double omega = t_sums[0] / t_sums[1];
      const auto r_sums = grid_.template totals<2>(
          "steelyard::cavity::bicgstab_update", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            Terms<2> terms;
            for (int c = 0; c < Components; ++c) {
              const double s = r(c, j, i);
              x(c, j, i) += alpha * p(c, j, i) + omega * s;
              const double residual = s - omega * t(c, j, i);
              r(c, j, i) = residual;
              terms.of[0] += residual * residual;
              terms.of[1] += residual * shadow(c, j, i);
            }
            return terms;
          });
      rr = r_sums[0];
      if (shadow_r == 0.0 || omega == 0.0) return ended(report, SolveOutcome::broke_down);
      const double beta = (alpha / omega) * (r_sums[1] / shadow_r);
      shadow_r = r_sums[1];
      grid_.for_cells("steelyard::cavity::bicgstab_p", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            for (int c = 0; c < Components; ++c) {
              p(c, j, i) = r(c, j, i) + beta * (p(c, j, i) - omega * v(c, j, i));
            }
          });
    }
  }

 private:
  static SolveReport ended(SolveReport report, SolveOutcome outcome) {
    report.outcome = outcome;
    return report;
  }

  const UnitGrid<Execution>& grid_;
  Field r_;
  Field shadow_;
  Field p_;
  Field v_;
  Field t_;
};

}  // namespace steelyard::cavity
