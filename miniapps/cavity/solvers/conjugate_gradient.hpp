#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "miniapps/cavity/solvers/krylov_method.hpp"

namespace steelyard::cavity {
namespace detail {

/// a^T b.
struct InnerProduct {
  RowAccess<1> a, b;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const {
    return {{a(j, i) * b(j, i)}};
  }
};

/// p = z + beta p.
struct UpdateDirection {
  RowAccess<1> z, p;
  double beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    p(j, i) = z(j, i) + scaled_or_zero(beta, p(j, i));
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

/// x = x + alpha p and r = r - alpha A p; r^T r.
template <class Operator>
struct UpdateSolution {
  Operator matrix;
  RowAccess<1> x, p, r;
  double alpha;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const {
    x(j, i) += alpha * p(j, i);
    const double residual = r(j, i) - alpha * matrix(p, 0, j, i);
    r(j, i) = residual;
    return {{residual * residual}};
  }
};

/// s = A z + beta s, p = z + beta p, x = x + alpha p and next r = r - alpha s. At first beta is 0 whatever s and p
/// hold. Told by its type: scaled_or_zero() for both would keep compilers from vectorising this.
template <class Operator, bool is_first>
struct UpdateAll {
  Operator matrix;
  RowAccess<1> x, z, p, s, r, next;
  double alpha, beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    const double image = matrix(z, 0, j, i) + (is_first ? 0.0 : beta * s(j, i));
    const double direction = z(j, i) + (is_first ? 0.0 : beta * p(j, i));
    s(j, i) = image;
    p(j, i) = direction;
    x(j, i) += alpha * direction;
    next(j, i) = r(j, i) - alpha * image;
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
/// preconditioner.
///
/// With merged reductions all sums of an iteration are gathered at once, and results differ by rounding alone. Source:
/// A. T. Chronopoulos, C. W. Gear, "s-step iterative methods for symmetric linear systems", J. Comput. Appl. Math. 25
/// (1989), with s = 1. An iteration sweeps memory once: s = A z + beta s, p = z + beta p, x and r; and a row behind
/// r^T z, z^T A z and r^T r, which the next iteration begins with: 64 bytes a cell without a preconditioner, where two
/// fields take turns as r, for neighbours read the old one while the new one is written.
template <class Execution>
class ConjugateGradient {
 public:
  using Field = RowField<Execution>;
  /// z = M^-1 r in the unit's own rows, M symmetric and positive definite; all units call it together. r's values stay,
  /// ghost rows of both may be written. An empty one is the identity.
  using Preconditioner = std::function<void(Field& r, Field& z)>;

  explicit ConjugateGradient(const UnitGrid<Execution>& grid, Reductions reductions = Reductions::separate)
      : grid_(grid), merged_(reductions == Reductions::merged), r_(grid.field()), p_(grid.field()) {
    if (merged_) s_ = grid.field();
  }

  /// Solves A x = b from the x given, A symmetric and positive definite, or semi-definite with constants as its null
  /// space, as `static constexpr bool maps_constants_to_zero = true` in its class says, where b's mean is left out and
  /// x's stays what it is. All units call it. @param right_side is read in the unit's own rows; x's ghost rows are not
  /// valid afterwards
  template <class Operator>
  SolveReport solve(const Operator& matrix, const Field& right_side, Field& solution, const SolveSettings& settings,
                    const Preconditioner& preconditioner = {}) {
    if ((merged_ || preconditioner) && z_.columns() == 0) z_ = grid_.field();
    double offset = 0.0;
    if constexpr (requires { requires Operator::maps_constants_to_zero; }) offset = mean(grid_, right_side);
    const auto iterate_from = [&](SolveMonitor& monitor, double rr, bool) -> std::optional<double> {
      if (merged_) {
        iterate_merged(matrix, preconditioner, solution, monitor);
      } else {
        iterate(matrix, preconditioner, solution, monitor, rr);
      }
      return std::nullopt;
    };
    return solve_by(grid_, matrix, right_side, offset, solution, r_, r_, settings, iterate_from);
  }

 private:
  /// Algorithm 2 from r on. @param rr r^T r
  template <class Operator>
  void iterate(const Operator& matrix, const Preconditioner& preconditioner, Field& solution, SolveMonitor& monitor,
               double rr) {
    double old_rz = 0.0;
    do {
      // z = M^-1 r
      if (preconditioner) preconditioner(r_, z_);
      const double rz = preconditioner ? inner_product() : rr;
      // p = z + beta p
      const double beta = old_rz == 0.0 ? 0.0 : rz / old_rz;
      const double pap = update_direction(matrix, preconditioner ? z_ : r_, beta);
      if (breaks_down(monitor, rz, pap)) return;
      // x = x + alpha p, r = r - alpha A p
      rr = update_solution(matrix, rz / pap, solution);
      old_rz = rz;
    } while (monitor.should_continue(std::sqrt(rr)));
  }

  /// Algorithm 2 with all of an iteration's sums at once.
  template <class Operator>
  void iterate_merged(const Operator& matrix, const Preconditioner& preconditioner, Field& solution,
                      SolveMonitor& monitor) {
    // z = M^-1 r
    if (preconditioner) preconditioner(r_, z_);
    std::array<double, 3> products = inner_products(matrix, preconditioner ? z_ : r_);
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
      products = beta == 0.0 ? update_all<true>(matrix, preconditioner, alpha, beta, solution)
                             : update_all<false>(matrix, preconditioner, alpha, beta, solution);
    } while (monitor.should_continue(std::sqrt(products[0])));
  }

  /// Neither A nor M is positive definite then, and a restart would not change that.
  static bool breaks_down(SolveMonitor& monitor, double rz, double pap) {
    if (rz > 0.0 && pap > 0.0) return false;
    monitor.fail(std::isfinite(rz * pap) ? SolveOutcome::broke_down : SolveOutcome::not_finite);
    return true;
  }

  /// @return r^T z
  double inner_product() const {
    return grid_.template totals<1>("steelyard::cavity::inner_product",
                                    detail::InnerProduct{r_.access(), z_.access()})[0];
  }

  /// @return p^T A p
  template <class Operator>
  double update_direction(const Operator& matrix, const Field& z_field, double beta) {
    const auto p = p_.access(), z = z_field.access();
    return grid_.template for_cells_then_totals<1>(
        p_, "steelyard::cavity::cg_direction", reading(fields(p, z), detail::UpdateDirection{z, p, beta}),
        "steelyard::cavity::cg_curvature", detail::Curvature<Operator>{matrix, p})[0];
  }

  /// @return r^T r
  template <class Operator>
  double update_solution(const Operator& matrix, double alpha, Field& solution) {
    const auto x = solution.access(), p = p_.access(), r = r_.access();
    const detail::UpdateSolution<Operator> update{matrix, x, p, r, alpha};
    return grid_.template totals<1>("steelyard::cavity::cg_update",
                                    reading(fields(x, around_cells(p), r, matrix), update))[0];
  }

  /// @return r^T r, r^T z and z^T A z
  template <class Operator>
  std::array<double, 3> inner_products(const Operator& matrix, Field& z) {
    return grid_.template totals_with_halo<3>(z, "steelyard::cavity::cg_products",
                                              detail::InnerProducts<Operator>{matrix, r_.access(), z.access()});
  }

  /// @return r^T r, r^T z and z^T A z of the new r and z
  template <bool is_first, class Operator>
  std::array<double, 3> update_all(const Operator& matrix, const Preconditioner& preconditioner, double alpha,
                                   double beta, Field& solution) {
    const auto x = solution.access(), p = p_.access(), s = s_.access(), r = r_.access(),
               z = preconditioner ? z_.access() : r, next = preconditioner ? r : z_.access();
    const auto update = reading(fields(x, around_cells(z), p, s, r, next),
                                detail::UpdateAll<Operator, is_first>{matrix, x, z, p, s, r, next, alpha, beta});
    constexpr const char* label = "steelyard::cavity::cg_update_all";
    if (preconditioner) {
      grid_.for_cells(label, update);
      preconditioner(r_, z_);
      return inner_products(matrix, z_);
    }
    std::swap(r_, z_);
    return grid_.template for_cells_then_totals<3>(r_, label, update, "steelyard::cavity::cg_products",
                                                   detail::InnerProducts<Operator>{matrix, next, next});
  }

  const UnitGrid<Execution>& grid_;
  bool merged_;
  Field r_;
  Field p_;
  Field s_;  ///< for merged reductions
  Field z_;  ///< with a preconditioner; without, for merged reductions, the next r
};

}  // namespace steelyard::cavity
