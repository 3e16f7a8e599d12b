#pragma once

#include <cmath>
#include <cstdint>

#include "miniapps/cavity/bicgstab_formulas.hpp"
#include "miniapps/cavity/bicgstab_start.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/preconditioner.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/residual.hpp"
#include "miniapps/cavity/scaled_or_zero.hpp"
#include "miniapps/cavity/solve_monitor.hpp"
#include "miniapps/cavity/storing.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {
namespace detail {

/// p = r + beta (p - omega v), and p^.
template <class Preconditioner, int Components>
struct DirectionStep {
  PreconditionedStore<Preconditioner, Components> store;
  RowAccess<Components> r, p, v;
  double beta, omega;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = r(c, j, i) + scaled_or_zero(beta, p(c, j, i) - omega * v(c, j, i));
    p(c, j, i) = value;
    store(value, c, j, i);
  }
};

/// t = A s^; s^T s, t^T s and t^T t.
template <class Operator, int Components, bool identity>
struct ResidualImage {
  Operator matrix;
  RowAccess<Components> s_hat, s_itself;

  KOKKOS_FORCEINLINE_FUNCTION ValueAndTerms<3> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = matrix(s_hat, c, j, i), s = identity ? s_hat(c, j, i) : s_itself(c, j, i);
    return {value, {{s * s, value * s, value * value}}};
  }
};

/// x = x + alpha p^ + omega s^ and r = s - omega t, in the place of s; r^T r and r0^T r.
template <int Components, bool identity>
struct FullStep {
  RowAccess<Components> x, r, shadow, t, p_hat, s_hat;
  double alpha, omega;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double s = r(c, j, i), other = identity ? s : s_hat(c, j, i);
    x(c, j, i) += alpha * p_hat(c, j, i) + omega * other;
    const double residual = s - omega * t(c, j, i);
    r(c, j, i) = residual;
    return {{residual * residual, residual * shadow(c, j, i)}};
  }
};

}  // namespace detail

/// Stabilised bi-conjugate gradients on one unit's part of a grid, together with all other units, for fields of any
/// number of components, which are one vector to it. Source: 000, Algorithm 3.
///
/// With p^ = M^-1 p and s^ = M^-1 s, an iteration sweeps memory three times: p with v = A p^, r0^T v and v^T v a row
/// behind; s = r - alpha v, in place, with t = A s^, s^T s, t^T s and t^T t a row behind; then x and r with r^T r and
/// r0^T r: 136 bytes a value and what A itself reads, without a preconditioner. A pointwise one adds 24 bytes. Where
/// r0^T v, r0^T r or omega vanishes, it begins again from the true residual with another r0.
template <class Execution, int Components>
class BiCgStab {
 public:
  using Field = RowField<Execution, Components>;
  /// Traffic of an iteration by each value, without a preconditioner and what A itself reads.
  static constexpr double bytes_per_value = 17 * sizeof(double);

  explicit BiCgStab(const UnitGrid<Execution>& grid)
      : grid_(grid),
        r_(grid.template field<Components>()),
        shadow_(grid.template field<Components>()),
        p_(grid.template field<Components>()),
        v_(grid.template field<Components>()),
        t_(grid.template field<Components>()) {}

  /// Solves A x = b from the x given. All units call it. @param right_side is read in the unit's own rows; x's ghost
  /// rows are not valid afterwards
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    constexpr bool identity = Preconditioner::is_identity;
    if (!identity && preconditioned_p_.columns() == 0) {
      preconditioned_p_ = grid_.template field<Components>();
      preconditioned_s_ = grid_.template field<Components>();
    }
    // s takes the place of r.
    Field& p_source = identity ? p_ : preconditioned_p_;
    Field& s_source = identity ? r_ : preconditioned_s_;
    const auto x = solution.access(), r = r_.access(), shadow = shadow_.access(), p = p_.access(), v = v_.access(),
               t = t_.access(), ph = p_source.access(), sh = s_source.access();
    const auto store_p = preconditioned_store(preconditioner, preconditioned_p_);
    const auto store_s = preconditioned_store(preconditioner, preconditioned_s_);
    SolveMonitor monitor(settings, grid_.shared().rows(), grid_.columns());
    bool broke_down = false;
    double divisor = 0.0;
    do {
      const auto start = bicgstab_start(grid_, matrix, right_side, solution, r_, shadow_);
      if (!monitor.begins(std::sqrt(start[0]), std::sqrt(start[1]))) break;
      if (monitor.solution_is_zero()) {
        set_to_zero(grid_, solution);
        monitor.has_zeroed();
        break;
      }
      double shadow_r = start[0], shadow_square = start[0];
      if (broke_down) {
        const auto sums = scatter_shadow(grid_, r_, shadow_, start[0], monitor.report().restarts);
        shadow_r = sums[0];
        shadow_square = sums[1];
      }
      double beta = 0.0, omega = 0.0;
      for (;;) {
        const auto v_sums = updated_totals<2>(
            preconditioner, grid_, p_, p_source, "steelyard::cavity::bicgstab_p",
            reading(fields(r, p, v), each_component<Components>(detail::DirectionStep<Preconditioner, Components>{
                                         store_p, r, p, v, beta, omega})),
            "steelyard::cavity::bicgstab_v",
            reading(fields(shadow, matrix),
                    each_component<Components>(detail::DirectionImage<Operator, Components>{matrix, ph, shadow, v})));
        divisor = v_sums[0];
        broke_down = has_vanished(divisor, shadow_square, v_sums[1]);
        if (broke_down) break;
        const double alpha = shadow_r / divisor;
        const auto t_sums = updated_totals<3>(
            preconditioner, grid_, r_, s_source, "steelyard::cavity::bicgstab_s",
            reading(fields(r, v),
                    each_component<Components>(detail::HalfStep<Preconditioner, Components>{store_s, r, v, alpha})),
            "steelyard::cavity::bicgstab_t",
            reading(fields(matrix), each_component<Components>(storing(
                                        t_, detail::ResidualImage<Operator, Components, identity>{matrix, sh, r}))));
        const double ss = t_sums[0];
        if (std::sqrt(ss) <= monitor.tolerance()) {
          add_multiple(grid_, solution, alpha, p_source);
          monitor.goes_on(std::sqrt(ss));
          break;
        }
        divisor = t_sums[1];
        if (has_vanished(divisor, ss, t_sums[2])) {
          add_multiple(grid_, solution, alpha, p_source);
          broke_down = monitor.goes_on(std::sqrt(ss));
          break;
        }
        omega = divisor / t_sums[2];
        const auto r_sums = grid_.template totals<2>(
            "steelyard::cavity::bicgstab_update",
            each_component<Components>(detail::FullStep<Components, identity>{x, r, shadow, t, ph, sh, alpha, omega}));
        if (!monitor.goes_on(std::sqrt(r_sums[0]))) break;
        divisor = r_sums[1];
        broke_down = has_vanished(divisor, shadow_square, r_sums[0]);
        if (broke_down) break;
        beta = (alpha / omega) * (divisor / shadow_r);
        shadow_r = divisor;
      }
    } while (broke_down ? monitor.begins_again_after_breakdown(divisor)
                        : monitor.seems_solved() &&
                              monitor.begins_again(residual_norm(grid_, matrix, right_side, 0.0, solution)));
    return monitor.report();
  }

 private:
  const UnitGrid<Execution>& grid_;
  Field r_;
  Field shadow_;
  Field p_;
  Field v_;
  Field t_;
  Field preconditioned_p_;  ///< only where there is a preconditioner
  Field preconditioned_s_;
};

}  // namespace steelyard::cavity
