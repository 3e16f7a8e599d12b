#pragma once

#include <cmath>
#include <cstdint>

#include "miniapps/cavity/preconditioner.hpp"
#include "miniapps/cavity/quadratic_form.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/residual.hpp"
#include "miniapps/cavity/scaled_or_zero.hpp"
#include "miniapps/cavity/solve_monitor.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {
namespace detail {

/// r = b - offset - A x; r^T r, b^T b and r^T z.
template <class Operator, class Preconditioner>
struct StartResidual {
  Operator matrix;
  PointwisePart<Preconditioner> inverse;
  RowAccess<1> b, x, r;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<3> operator()(const std::int64_t j, const Column i) const {
    const double residual = b(j, i) - offset - matrix(x, 0, j, i);
    r(j, i) = residual;
    Terms<3> terms;
    terms.of[0] = residual * residual;
    terms.of[1] = b(j, i) * b(j, i);
    terms.of[2] = residual * inverse(residual, 0, j, i);
    return terms;
  }
};

/// p = z + beta p.
template <class Preconditioner>
struct UpdateDirection {
  Preconditioned<Preconditioner, 1> z;
  RowAccess<1> p;
  double beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    p(j, i) = z(0, j, i) + scaled_or_zero(beta, p(j, i));
  }
};

/// p^T A p.
template <class Operator>
struct Curvature {
  Operator matrix;
  RowAccess<1> p;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const {
    return {{quadratic_form(matrix, p, j, i)}};
  }
};

/// x = x + alpha p and r = r - alpha A p; r^T r and, as the last one of several products, r^T z.
template <int Products, class Operator, class Preconditioner>
struct UpdateSolution {
  Operator matrix;
  PointwisePart<Preconditioner> inverse;
  RowAccess<1> x, p, r;
  double alpha;

  KOKKOS_FORCEINLINE_FUNCTION Terms<Products> operator()(const std::int64_t j, const Column i) const {
    x(j, i) += alpha * p(j, i);
    const double residual = r(j, i) - alpha * matrix(p, 0, j, i);
    r(j, i) = residual;
    Terms<Products> terms;
    terms.of[0] = residual * residual;
    terms.of[Products - 1] = residual * inverse(residual, 0, j, i);
    return terms;
  }
};

}  // namespace detail

/// Conjugate gradients on one unit's part of a grid, together with all other units. Source: 000, Algorithm 2.
///
/// An iteration sweeps memory twice: p = z + beta p with p^T A p a row behind; then x and r, for which A p is computed
/// once more, since that costs no memory traffic but p's own: 64 bytes a cell without a preconditioner or with a
/// pointwise one, which needs no memory for z either.
template <class Execution>
class ConjugateGradient {
 public:
  using Field = RowField<Execution>;
  /// Traffic of an iteration by each cell.
  static constexpr double bytes_per_cell = 8 * sizeof(double);

  explicit ConjugateGradient(const UnitGrid<Execution>& grid) : grid_(grid), r_(grid.field()), p_(grid.field()) {}

  /// Solves A x = b from the x given, A symmetric and positive definite, or semi-definite with constants as its null
  /// space, where b's mean is left out and x's stays what it is. All units call it. @param right_side is read in the
  /// unit's own rows; x's ghost rows are not valid afterwards
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    // r^T z is r^T r without a preconditioner, and takes a sweep of its own with one that is not pointwise.
    constexpr int products = is_pointwise<Preconditioner> && !Preconditioner::is_identity ? 2 : 1;
    if (!is_pointwise<Preconditioner> && z_.columns() == 0) z_ = grid_.field();
    const auto b = right_side.access(), x = solution.access(), r = r_.access(), p = p_.access();
    const auto inverse = pointwise_part(preconditioner);
    const auto z = preconditioned(preconditioner, r_, z_);
    const RowAccess<1> z_read = is_pointwise<Preconditioner> ? r : z_.access();
    const double offset = inconsistent_part(grid_, matrix, right_side);
    SolveMonitor monitor(settings, grid_.shared().rows(), grid_.columns());
    do {
      const auto start = grid_.template totals_with_halo<3>(
          solution, "steelyard::cavity::cg_start",
          reading(fields(b, around_cells(x), matrix),
                  detail::StartResidual<Operator, Preconditioner>{matrix, inverse, b, x, r, offset}));
      if (!monitor.begins(std::sqrt(start[0]), std::sqrt(start[1]))) break;
      if (monitor.solution_is_zero()) {
        set_to_zero(grid_, solution);
        monitor.has_zeroed();
        break;
      }
      double rr = start[0], rz = start[2], old_rz = 0.0;
      do {
        if constexpr (!is_pointwise<Preconditioner>) {
          preconditioner.apply(grid_, r_, z_);
          rz = inner_product(grid_, r_, z_);
        }
        const double beta = old_rz == 0.0 ? 0.0 : rz / old_rz;
        old_rz = rz;
        const double pap = grid_.template for_cells_then_totals<1>(
            p_, "steelyard::cavity::cg_direction",
            reading(fields(p, z_read), detail::UpdateDirection<Preconditioner>{z, p, beta}),
            "steelyard::cavity::cg_curvature", detail::Curvature<Operator>{matrix, p})[0];
        // Neither A nor M is positive definite then, and beginning again would not change that.
        if (!(rz > 0.0 && pap > 0.0)) {
          monitor.ends(std::isfinite(rz * pap) ? SolveOutcome::broke_down : SolveOutcome::not_finite);
          return monitor.report();
        }
        const double alpha = rz / pap;
        const auto sums = grid_.template totals<products>(
            "steelyard::cavity::cg_update",
            reading(fields(x, around_cells(p), r, matrix),
                    detail::UpdateSolution<products, Operator, Preconditioner>{matrix, inverse, x, p, r, alpha}));
        rr = sums[0];
        rz = sums[products - 1];
      } while (monitor.goes_on(std::sqrt(rr)));
    } while (monitor.seems_solved() &&
             monitor.begins_again(residual_norm(grid_, matrix, right_side, offset, solution)));
    return monitor.report();
  }

 private:
  const UnitGrid<Execution>& grid_;
  Field r_;
  Field p_;
  Field z_;  ///< only for preconditioners that are not pointwise
};

}  // namespace steelyard::cavity
