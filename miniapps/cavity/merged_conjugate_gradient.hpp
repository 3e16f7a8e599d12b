#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "miniapps/cavity/preconditioner.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/residual.hpp"
#include "miniapps/cavity/solve_monitor.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {
namespace detail {

/// r = b - offset - A x, z, and s = p = 0, what an iteration keeps of the one before, of which there is none; r^T r and
/// b^T b.
template <class Operator, class Preconditioner>
struct StartMerged {
  Operator matrix;
  PreconditionedStore<Preconditioner, 1> store;
  RowAccess<1> b, x, r, s, p;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const std::int64_t j, const Column i) const {
    const double residual = b(j, i) - offset - matrix(x, 0, j, i);
    r(j, i) = residual;
    store(residual, 0, j, i);
    s(j, i) = p(j, i) = 0.0;
    Terms<2> terms;
    terms.of[0] = residual * residual;
    terms.of[1] = b(j, i) * b(j, i);
    return terms;
  }
};

/// s = A z + beta s, p = z + beta p, x = x + alpha p, next r = r - alpha s and next z.
template <class Operator, class Preconditioner>
struct UpdateAll {
  Operator matrix;
  PreconditionedStore<Preconditioner, 1> store;
  RowAccess<1> x, z, p, s, r, next;
  double alpha, beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    const double image = matrix(z, 0, j, i) + beta * s(j, i);
    const double direction = z(j, i) + beta * p(j, i);
    const double residual = r(j, i) - alpha * image;
    s(j, i) = image;
    p(j, i) = direction;
    x(j, i) += alpha * direction;
    next(j, i) = residual;
    store(residual, 0, j, i);
  }
};

/// What a cell adds to r^T r, r^T z and z^T A z.
template <class Operator>
struct InnerProducts {
  Operator matrix;
  RowAccess<1> r, z;

  KOKKOS_FORCEINLINE_FUNCTION Terms<3> operator()(const std::int64_t j, const Column i) const {
    const double here = z(j, i), residual = r(j, i);
    return {{residual * residual, residual * here, here * matrix(z, 0, j, i)}};
  }
};

}  // namespace detail

/// Conjugate gradients that gather all sums of an iteration at once: those of ConjugateGradient but for rounding.
/// Source: A. T. Chronopoulos, C. W. Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl.
/// Math. 25 (1989), with s = 1.
///
/// With z = M^-1 r, an iteration sweeps memory once: s = A z + beta s, p = z + beta p, x and r; and a row behind r^T z,
/// z^T A z and r^T r, which the next iteration begins with. Neighbours read the old z while the new one is written, so
/// that there are two of what is z: 64 bytes a cell without a preconditioner, and 88 with a pointwise one.
template <class Execution>
class MergedConjugateGradient {
 public:
  using Field = RowField<Execution>;
  /// Traffic of an iteration by each cell, without a preconditioner.
  static constexpr double bytes_per_cell = 8 * sizeof(double);

  explicit MergedConjugateGradient(const UnitGrid<Execution>& grid)
      : grid_(grid), r_(grid.field()), p_(grid.field()), s_(grid.field()), z_(grid.field()) {}

  /// As ConjugateGradient::solve().
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    constexpr bool identity = Preconditioner::is_identity;
    constexpr bool pointwise = is_pointwise<Preconditioner> && !identity;
    if (pointwise && next_z_.columns() == 0) next_z_ = grid_.field();
    const auto b = right_side.access(), x = solution.access(), p = p_.access(), s = s_.access();
    const double offset = inconsistent_part(grid_, matrix, right_side);
    SolveMonitor monitor(settings, grid_.shared().rows(), grid_.columns());
    do {
      const auto r = r_.access();
      const auto store = preconditioned_store(preconditioner, z_);
      const auto start = grid_.template totals_with_halo<2>(
          solution, "steelyard::cavity::merged_cg_start",
          reading(fields(b, around_cells(x), matrix),
                  detail::StartMerged<Operator, Preconditioner>{matrix, store, b, x, r, s, p, offset}));
      if (!monitor.begins(std::sqrt(start[0]), std::sqrt(start[1]))) break;
      if (monitor.solution_is_zero()) {
        set_to_zero(grid_, solution);
        monitor.has_zeroed();
        break;
      }
      apply_unless_pointwise(preconditioner, grid_, r_, z_);
      Field& first_z = identity ? r_ : z_;
      auto sums =
          grid_.template totals_with_halo<3>(first_z, "steelyard::cavity::merged_cg_sums",
                                             detail::InnerProducts<Operator>{matrix, r_.access(), first_z.access()});
      double old_rz = 0.0, old_alpha = 0.0;
      do {
        const double rz = sums[1];
        const double beta = old_rz == 0.0 ? 0.0 : rz / old_rz;
        const double pap = old_rz == 0.0 ? sums[2] : sums[2] - beta * rz / old_alpha;
        if (!(rz > 0.0 && pap > 0.0)) {
          monitor.ends(std::isfinite(rz * pap) ? SolveOutcome::broke_down : SolveOutcome::not_finite);
          return monitor.report();
        }
        const double alpha = rz / pap;
        old_rz = rz;
        old_alpha = alpha;
        const auto now = r_.access(), z = identity ? r_.access() : z_.access();
        Field& next_r = identity ? z_ : r_;
        Field& next_z = pointwise ? next_z_ : z_;
        const auto next = next_r.access();
        const auto next_store = preconditioned_store(preconditioner, next_z);
        sums = updated_totals<3>(preconditioner, grid_, next_r, next_z, "steelyard::cavity::merged_cg_update",
                                 reading(fields(x, around_cells(z), p, s, now, next),
                                         detail::UpdateAll<Operator, Preconditioner>{matrix, next_store, x, z, p, s,
                                                                                     now, next, alpha, beta}),
                                 "steelyard::cavity::merged_cg_sums",
                                 detail::InnerProducts<Operator>{matrix, next_r.access(), next_z.access()});
        if (identity) std::swap(r_, z_);
        if (pointwise) std::swap(z_, next_z_);
      } while (monitor.goes_on(std::sqrt(sums[0])));
    } while (monitor.seems_solved() &&
             monitor.begins_again(residual_norm(grid_, matrix, right_side, offset, solution)));
    return monitor.report();
  }

 private:
  const UnitGrid<Execution>& grid_;
  Field r_;
  Field p_;
  Field s_;
  Field z_;       ///< the next r where there is no preconditioner
  Field next_z_;  ///< of pointwise preconditioners
};

}  // namespace steelyard::cavity
