#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/solvers/preconditioner.hpp"
#include "miniapps/cavity/solvers/vector_operations.hpp"

namespace steelyard::cavity {
namespace detail {

/// r = b - offset - A x; r^T r, b^T b and r^T z. For merged reductions also z, and s = p = 0, of which the first
/// iteration keeps nothing.
template <bool merged, class Operator, class Preconditioner>
struct StartResidual {
  Operator matrix;
  PreconditionedStore<Preconditioner, 1> store;
  RowAccess<1> b, x, r, s, p;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<3> operator()(const std::int64_t j, const Column i) const {
    const double residual = b(j, i) - offset - matrix(x, 0, j, i);
    r(j, i) = residual;
    if constexpr (merged) {
      store(residual, 0, j, i);
      s(j, i) = p(j, i) = 0.0;
    }
    return {{residual * residual, b(j, i) * b(j, i), residual * store.inverse(residual, 0, j, i)}};
  }
};

/// p = z + beta p, where z is computed from r on the way if M is pointwise.
template <class Preconditioner>
struct UpdateDirection {
  PointwisePart<Preconditioner> inverse;
  RowAccess<1> r_or_z, p;
  double beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    p(j, i) = inverse(r_or_z(j, i), 0, j, i) + scaled_or_zero(beta, p(j, i));
  }
};

/// p^T A p.
template <class Operator>
struct Curvature {
  Operator matrix;
  RowAccess<1> p;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const {
    return {{matrix.quadratic_form(p, j, i)}};
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

/// r^T r, r^T z and z^T A z.
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

/// Conjugate gradients on one unit's part of a grid, together with all other units. Source: 000, Algorithm 2.
///
/// With separate reductions an iteration sweeps memory twice: p = z + beta p with p^T A p a row behind; then x and r,
/// for which A p is computed once more, since that costs no memory traffic but p's own: 64 bytes a cell without a
/// preconditioner or with a pointwise one, which needs no memory for z either.
///
/// With merged reductions all sums of an iteration are gathered at once: the same but for rounding. Source: A. T.
/// Chronopoulos, C. W. Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25 (1989),
/// with s = 1. An iteration sweeps memory once: s = A z + beta s, p = z + beta p, x and r; and a row behind r^T z,
/// z^T A z and r^T r, which the next iteration begins with. Neighbours read the old z while the new one is written, so
/// that there are two of what is z: 64 bytes a cell without a preconditioner, and 88 with a pointwise one.
template <class Execution>
class ConjugateGradient {
 public:
  using Field = RowField<Execution>;
  /// Traffic of an iteration by each cell, without a preconditioner.
  static constexpr double bytes_per_cell = 8 * sizeof(double);

  explicit ConjugateGradient(const UnitGrid<Execution>& grid, Reductions reductions = Reductions::separate)
      : grid_(grid), merged_(reductions == Reductions::merged), r_(grid.field()), p_(grid.field()) {
    if (merged_) s_ = grid.field();
    if (merged_) z_ = grid.field();
  }

  /// Solves A x = b from the x given, A symmetric and positive definite, or semi-definite with constants as its null
  /// space, where b's mean is left out and x's stays what it is. All units call it. @param right_side is read in the
  /// unit's own rows; x's ghost rows are not valid afterwards
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    if (!is_pointwise<Preconditioner> && z_.columns() == 0) z_ = grid_.field();
    if (merged_ && stores_pointwise<Preconditioner> && next_z_.columns() == 0) next_z_ = grid_.field();
    const double offset = inconsistent_part(grid_, matrix, right_side);
    SolveMonitor monitor(settings, grid_.shared().rows(), grid_.columns());
    do {
      // r = b - A x
      const auto [rr, bb, rz] = merged_ ? start<true>(matrix, preconditioner, right_side, solution, offset)
                                        : start<false>(matrix, preconditioner, right_side, solution, offset);
      if (!should_iterate(monitor, grid_, rr, bb, solution)) break;
      if (merged_) {
        iterate_merged(matrix, preconditioner, solution, monitor);
      } else {
        iterate(matrix, preconditioner, solution, monitor, rz);
      }
    } while (monitor.seems_solved() &&
             monitor.should_restart(residual_norm(grid_, matrix, right_side, offset, solution)));
    return monitor.report();
  }

 private:
  /// Algorithm 2 from r on. @param rz r^T z, with a pointwise preconditioner
  template <class Operator, class Preconditioner>
  void iterate(const Operator& matrix, Preconditioner& preconditioner, Field& solution, SolveMonitor& monitor,
               double rz) {
    double rr = 0.0, old_rz = 0.0;
    do {
      // z = M^-1 r
      if constexpr (!is_pointwise<Preconditioner>) {
        preconditioner.apply(grid_, r_, z_);
        rz = inner_product(grid_, r_, z_);
      }
      // p = z + beta p
      const double beta = old_rz == 0.0 ? 0.0 : rz / old_rz;
      const double pap = update_direction(matrix, preconditioner, beta);
      if (breaks_down(monitor, rz, pap)) return;
      // x = x + alpha p, r = r - alpha A p
      const double alpha = rz / pap;
      old_rz = rz;
      const auto products = update_solution(matrix, preconditioner, alpha, solution);
      rr = products.front();
      rz = products.back();
    } while (monitor.should_continue(std::sqrt(rr)));
  }

  /// The same with all of an iteration's sums at once.
  template <class Operator, class Preconditioner>
  void iterate_merged(const Operator& matrix, Preconditioner& preconditioner, Field& solution, SolveMonitor& monitor) {
    // z = M^-1 r
    std::array<double, 3> products = first_products(matrix, preconditioner);
    double old_rz = 0.0, old_alpha = 0.0;
    do {
      const auto [rr, rz, zaz] = products;
      const double beta = old_rz == 0.0 ? 0.0 : rz / old_rz;
      const double pap = old_rz == 0.0 ? zaz : zaz - beta * rz / old_alpha;
      if (breaks_down(monitor, rz, pap)) return;
      // s = A z + beta s, p = z + beta p, x = x + alpha p, r = r - alpha s, z = M^-1 r
      const double alpha = rz / pap;
      old_rz = rz;
      old_alpha = alpha;
      products = update_all(matrix, preconditioner, alpha, beta, solution);
    } while (monitor.should_continue(std::sqrt(products[0])));
  }

  /// Neither A nor M is positive definite then, and a restart would not change that.
  static bool breaks_down(SolveMonitor& monitor, double rz, double pap) {
    if (rz > 0.0 && pap > 0.0) return false;
    monitor.end(std::isfinite(rz * pap) ? SolveOutcome::broke_down : SolveOutcome::not_finite);
    return true;
  }

  /// @return r^T r, b^T b and, with a pointwise preconditioner, r^T z
  template <bool merged, class Operator, class Preconditioner>
  std::array<double, 3> start(const Operator& matrix, const Preconditioner& preconditioner, const Field& right_side,
                              Field& solution, double offset) const {
    const auto b = right_side.access(), x = solution.access();
    const detail::StartResidual<merged, Operator, Preconditioner> body{
        matrix, preconditioned_store(preconditioner, z_), b, x, r_.access(), s_.access(), p_.access(), offset};
    return grid_.template totals_with_halo<3>(solution, "steelyard::cavity::cg_start",
                                              reading(fields(b, around_cells(x), matrix), body));
  }

  /// @return p^T A p
  template <class Operator, class Preconditioner>
  double update_direction(const Operator& matrix, const Preconditioner& preconditioner, double beta) {
    const auto p = p_.access(), r_or_z = is_pointwise<Preconditioner> ? r_.access() : z_.access();
    const detail::UpdateDirection<Preconditioner> update{pointwise_part(preconditioner), r_or_z, p, beta};
    return grid_.template for_cells_then_totals<1>(
        p_, "steelyard::cavity::cg_direction", reading(fields(p, r_or_z), update), "steelyard::cavity::cg_curvature",
        detail::Curvature<Operator>{matrix, p})[0];
  }

  /// @return r^T r and, with a pointwise preconditioner, r^T z
  template <class Operator, class Preconditioner>
  auto update_solution(const Operator& matrix, const Preconditioner& preconditioner, double alpha, Field& solution) {
    // r^T z is r^T r without a preconditioner, and takes a sweep of its own with one that is not pointwise.
    constexpr int products = stores_pointwise<Preconditioner> ? 2 : 1;
    const auto x = solution.access(), p = p_.access(), r = r_.access();
    const detail::UpdateSolution<products, Operator, Preconditioner> update{
        matrix, pointwise_part(preconditioner), x, p, r, alpha};
    return grid_.template totals<products>("steelyard::cavity::cg_update",
                                           reading(fields(x, around_cells(p), r, matrix), update));
  }

  /// @return r^T r, r^T z and z^T A z
  template <class Operator, class Preconditioner>
  std::array<double, 3> first_products(const Operator& matrix, Preconditioner& preconditioner) {
    apply_unless_pointwise(preconditioner, grid_, r_, z_);
    Field& z = Preconditioner::is_identity ? r_ : z_;
    return grid_.template totals_with_halo<3>(z, "steelyard::cavity::cg_products",
                                              detail::InnerProducts<Operator>{matrix, r_.access(), z.access()});
  }

  /// @return the same of the new r and z
  template <class Operator, class Preconditioner>
  std::array<double, 3> update_all(const Operator& matrix, Preconditioner& preconditioner, double alpha, double beta,
                                   Field& solution) {
    constexpr bool identity = Preconditioner::is_identity, pointwise = stores_pointwise<Preconditioner>;
    const auto x = solution.access(), p = p_.access(), s = s_.access(), r = r_.access(),
               z = identity ? r_.access() : z_.access();
    Field& next_r = identity ? z_ : r_;
    Field& next_z = pointwise ? next_z_ : z_;
    const auto next = next_r.access();
    const detail::UpdateAll<Operator, Preconditioner> update{
        matrix, preconditioned_store(preconditioner, next_z), x, z, p, s, r, next, alpha, beta};
    const auto products =
        updated_totals<3>(preconditioner, grid_, next_r, next_z, "steelyard::cavity::cg_update_all",
                          reading(fields(x, around_cells(z), p, s, r, next), update), "steelyard::cavity::cg_products",
                          detail::InnerProducts<Operator>{matrix, next, next_z.access()});
    if (identity) std::swap(r_, z_);
    if (pointwise) std::swap(z_, next_z_);
    return products;
  }

  const UnitGrid<Execution>& grid_;
  bool merged_;
  Field r_;
  Field p_;
  Field s_;       ///< for merged reductions
  Field z_;       ///< for them and preconditioners that are not pointwise; the next r where there is no preconditioner
  Field next_z_;  ///< for merged reductions with a pointwise preconditioner
};

}  // namespace steelyard::cavity
