#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "miniapps/cavity/bicgstab_formulas.hpp"
#include "miniapps/cavity/bicgstab_start.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/preconditioner.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/residual.hpp"
#include "miniapps/cavity/solve_monitor.hpp"
#include "miniapps/cavity/storing.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {
namespace detail {

/// p = r, and p^.
template <class Preconditioner, int Components>
struct FirstDirection {
  PreconditionedStore<Preconditioner, Components> store;
  RowAccess<Components> r, p;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    p(c, j, i) = r(c, j, i);
    store(r(c, j, i), c, j, i);
  }
};

/// t = A s^; s^T s, t^T s, t^T t, r0^T s and r0^T t.
template <class Operator, int Components, bool identity>
struct ResidualImageAndShadow {
  Operator matrix;
  RowAccess<Components> s_hat, s_itself, shadow;

  KOKKOS_FORCEINLINE_FUNCTION ValueAndTerms<5> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = matrix(s_hat, c, j, i), other = shadow(c, j, i);
    const double s = identity ? s_hat(c, j, i) : s_itself(c, j, i);
    return {value, {{s * s, value * s, value * value, other * s, other * value}}};
  }
};

/// x = x + alpha p^ + omega s^, r = s - omega t, in the place of s, p = r + beta (p - omega v), and p^.
template <class Preconditioner, int Components>
struct FullAndDirectionStep {
  static constexpr bool identity = Preconditioner::is_identity;

  PreconditionedStore<Preconditioner, Components> store;
  RowAccess<Components> x, r, p, v, t, p_hat, s_hat;
  double alpha, beta, omega;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double s = r(c, j, i), direction = p(c, j, i);
    const double other_s = identity ? s : s_hat(c, j, i), other_p = identity ? direction : p_hat(c, j, i);
    const double residual = s - omega * t(c, j, i);
    const double next_direction = residual + beta * (direction - omega * v(c, j, i));
    x(c, j, i) += alpha * other_p + omega * other_s;
    r(c, j, i) = residual;
    p(c, j, i) = next_direction;
    store(next_direction, c, j, i);
  }
};

}  // namespace detail

/// Stabilised bi-conjugate gradients that gather the sums of an iteration twice rather than four times: those of
/// BiCgStab but for rounding. Source: 000, Algorithm 3.
///
/// An iteration sweeps memory twice: s = r - alpha v with t = A s^, s^T s, t^T s, t^T t, r0^T s and r0^T t a row
/// behind, which give omega, r^T r = s^T s - omega t^T s and r0^T r = r0^T s - omega r0^T t; then x, r and p with v = A
/// p^, r0^T v and v^T v a row behind: 120 bytes a value and what A itself reads, without a preconditioner. A pointwise
/// one adds 32 bytes. r0^T s, which alpha makes vanish, is what rounding has left of it: without it, the hardest
/// momentum equation of the tests stagnates.
template <class Execution, int Components>
class MergedBiCgStab {
 public:
  using Field = RowField<Execution, Components>;
  /// Traffic of an iteration by each value, without a preconditioner and what A itself reads.
  static constexpr double bytes_per_value = 15 * sizeof(double);

  explicit MergedBiCgStab(const UnitGrid<Execution>& grid)
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
      const auto image =
          reading(fields(shadow, matrix),
                  each_component<Components>(detail::DirectionImage<Operator, Components>{matrix, ph, shadow, v}));
      auto v_sums = updated_totals<2>(
          preconditioner, grid_, p_, p_source, "steelyard::cavity::merged_bicgstab_p",
          reading(fields(r),
                  each_component<Components>(detail::FirstDirection<Preconditioner, Components>{store_p, r, p})),
          "steelyard::cavity::merged_bicgstab_v", image);
      for (;;) {
        divisor = v_sums[0];
        broke_down = has_vanished(divisor, shadow_square, v_sums[1]);
        if (broke_down) break;
        const double alpha = shadow_r / divisor;
        const auto t_sums = updated_totals<5>(
            preconditioner, grid_, r_, s_source, "steelyard::cavity::merged_bicgstab_s",
            reading(fields(r, v),
                    each_component<Components>(detail::HalfStep<Preconditioner, Components>{store_s, r, v, alpha})),
            "steelyard::cavity::merged_bicgstab_t",
            reading(fields(shadow, matrix),
                    each_component<Components>(storing(
                        t_, detail::ResidualImageAndShadow<Operator, Components, identity>{matrix, sh, r, shadow}))));
        const double ss = t_sums[0];
        divisor = t_sums[1];
        const bool solved = std::sqrt(ss) <= monitor.tolerance();
        if (solved || has_vanished(divisor, ss, t_sums[2])) {
          add_multiple(grid_, solution, alpha, p_source);
          broke_down = monitor.goes_on(std::sqrt(ss));
          break;
        }
        const double omega = divisor / t_sums[2];
        const double rr = std::max(0.0, ss - omega * divisor);
        const double next_shadow_r = t_sums[3] - omega * t_sums[4];
        const double beta = (alpha / omega) * (next_shadow_r / shadow_r);
        shadow_r = next_shadow_r;
        v_sums = updated_totals<2>(
            preconditioner, grid_, p_, p_source, "steelyard::cavity::merged_bicgstab_update",
            reading(fields(x, r, p, v, t),
                    each_component<Components>(detail::FullAndDirectionStep<Preconditioner, Components>{
                        store_p, x, r, p, v, t, ph, sh, alpha, beta, omega})),
            "steelyard::cavity::merged_bicgstab_v", image);
        if (!monitor.goes_on(std::sqrt(rr))) break;
        divisor = shadow_r;
        broke_down = has_vanished(divisor, shadow_square, rr);
        if (broke_down) break;
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
