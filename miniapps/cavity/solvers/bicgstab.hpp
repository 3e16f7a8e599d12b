#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/splitmix64.hpp"
#include "miniapps/cavity/solvers/krylov_method.hpp"

namespace steelyard::cavity {
namespace detail {

/// A number in [-1/2, 1/2) that looks random, the same for the same value of the grid and turn on all units.
KOKKOS_INLINE_FUNCTION double scattered(const std::int64_t c, const std::int64_t j, const std::int64_t i,
                                        const std::int64_t turn) {
  // No other value has this index.
  const auto index = static_cast<std::uint64_t>((turn << 61) ^ (c << 58) ^ (j << 29) ^ i);
  return static_cast<double>(static_cast<std::int64_t>(splitmix64(0, index) >> 11)) * 0x1p-53 - 0.5;
}

/// x = x + factor y.
template <int Components>
struct AddMultiple {
  RowAccess<Components> x, y;
  double factor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    x(c, j, i) += factor * y(c, j, i);
  }
};

/// r0 = r + noise of that size; r^T r0 and r0^T r0.
template <int Components>
struct ScatterShadow {
  RowAccess<Components> r, shadow;
  double size;
  std::int64_t turn;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = r(c, j, i) + size * scattered(c, j, i, turn);
    shadow(c, j, i) = value;
    return {{value * r(c, j, i), value * value}};
  }
};

/// p = r + beta (p - omega v).
template <int Components>
struct DirectionStep {
  RowAccess<Components> r, p, v;
  double beta, omega;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    p(c, j, i) = r(c, j, i) + scaled_or_zero(beta, p(c, j, i) - omega * v(c, j, i));
  }
};

/// v = A p; r0^T v and v^T v.
template <class Operator, int Components>
struct DirectionImage {
  Operator matrix;
  RowAccess<Components> p, shadow, v;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = matrix(p, c, j, i);
    v(c, j, i) = value;
    return {{shadow(c, j, i) * value, value * value}};
  }
};

/// t = A s; s^T s, t^T s and t^T t, and for merged reductions r0^T s and r0^T t.
template <class Operator, int Components, bool merged>
struct ResidualImage {
  static constexpr int products = merged ? 5 : 3;

  Operator matrix;
  RowAccess<Components> s, shadow;

  KOKKOS_FORCEINLINE_FUNCTION ValueAndTerms<products> operator()(const int c, const std::int64_t j,
                                                                 const Column i) const {
    const double t = matrix(s, c, j, i), here = s(c, j, i);
    if constexpr (merged) {
      const double other = shadow(c, j, i);
      return {t, {{here * here, t * here, t * t, other * here, other * t}}};
    } else {
      return {t, {{here * here, t * here, t * t}}};
    }
  }
};

/// x = x + alpha p + omega s and r = s - omega t, in the place of s; r^T r and r0^T r.
template <int Components>
struct FullStep {
  RowAccess<Components> x, r, shadow, t, p;
  double alpha, omega;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double s = r(c, j, i), residual = s - omega * t(c, j, i);
    x(c, j, i) += alpha * p(c, j, i) + omega * s;
    r(c, j, i) = residual;
    return {{residual * residual, residual * shadow(c, j, i)}};
  }
};

/// x = x + alpha p + omega s, r = s - omega t, in the place of s, and p = r + beta (p - omega v).
template <int Components>
struct FullAndDirectionStep {
  RowAccess<Components> x, r, p, v, t;
  double alpha, beta, omega;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double s = r(c, j, i), direction = p(c, j, i), residual = s - omega * t(c, j, i);
    x(c, j, i) += alpha * direction + omega * s;
    r(c, j, i) = residual;
    p(c, j, i) = residual + beta * (direction - omega * v(c, j, i));
  }
};

}  // namespace detail

/// Stabilised bi-conjugate gradients on one unit's part of a grid, together with all other units, for fields of any
/// number of components, which are one vector to it. Source: 000, Algorithm 3, without a preconditioner. Where r0^T v,
/// r0^T r or omega vanishes, it restarts from the true residual with another r0.
///
/// With separate reductions an iteration sweeps memory three times: p with v = A p, r0^T v and v^T v a row behind;
/// s = r - alpha v, in place, with t = A s, s^T s, t^T s and t^T t a row behind; then x and r with r^T r and r0^T r:
/// 136 bytes a value and what A itself reads.
///
/// With merged reductions sums are gathered twice rather than four times, and results differ by rounding alone. An
/// iteration sweeps memory twice: s = r - alpha v with t = A s, s^T s, t^T s, t^T t, r0^T s and r0^T t a row behind,
/// which give omega, r^T r = s^T s - omega t^T s and r0^T r = r0^T s - omega r0^T t; then x, r and p with v = A p, r0^T
/// v and v^T v a row behind: 120 bytes a value and what A itself reads. r0^T s, which alpha makes vanish, is what
/// rounding has left of it: without it, the hardest momentum equation of the tests stagnates.
template <class Execution, int Components>
class BiCgStab {
 public:
  using Field = RowField<Execution, Components>;

  explicit BiCgStab(const UnitGrid<Execution>& grid, Reductions reductions = Reductions::separate)
      : grid_(grid),
        merged_(reductions == Reductions::merged),
        r_(grid.template field<Components>()),
        shadow_(grid.template field<Components>()),
        p_(grid.template field<Components>()),
        v_(grid.template field<Components>()),
        t_(grid.template field<Components>()) {}

  /// Solves A x = b from the x given. All units call it. @param right_side is read in the unit's own rows; x's ghost
  /// rows are not valid afterwards
  template <class Operator>
  SolveReport solve(const Operator& matrix, const Field& right_side, Field& solution, const SolveSettings& settings) {
    const auto iterate_from = [&](SolveMonitor& monitor, double rr, bool has_broken_down) {
      const Products shadow = has_broken_down ? scatter_shadow(rr, monitor.report().restarts) : Products{rr, rr};
      return iterate(matrix, solution, monitor, shadow);
    };
    return solve_by(grid_, matrix, right_side, 0.0, solution, r_, shadow_, settings, iterate_from);
  }

 private:
  using Products = std::array<double, 2>;

  /// Whether a product has vanished beside the vectors that made it: rounding would be all that is left of it.
  static bool has_vanished(double product, double squares, double other_squares) {
    return !(std::abs(product) > 1e-14 * std::sqrt(squares) * std::sqrt(other_squares));
  }

  /// Algorithm 3 from r and r0 on. @param shadow r0^T r and r0^T r0
  /// @return the divisor that has vanished, if that has ended the iterations
  template <class Operator>
  std::optional<double> iterate(const Operator& matrix, Field& solution, SolveMonitor& monitor,
                                const Products& shadow) {
    double rho = shadow[0];
    // p = r, v = A p
    Products direction = update_direction(matrix, 0.0, 0.0);
    for (;;) {
      const auto [r0_v, vv] = direction;
      if (has_vanished(r0_v, shadow[1], vv)) return r0_v;
      // s = r - alpha v, t = A s
      const double alpha = rho / r0_v;
      const auto [ss, ts, tt, r0_s, r0_t] = merged_ ? half_step<true>(matrix, alpha) : half_step<false>(matrix, alpha);
      if (std::sqrt(ss) <= monitor.tolerance() || has_vanished(ts, ss, tt)) {
        // x = x + alpha p
        add_direction(solution, alpha);
        return monitor.should_continue(std::sqrt(ss)) ? std::optional(ts) : std::nullopt;
      }
      // x = x + alpha p + omega s, r = s - omega t; with merged reductions also p and v
      const double omega = ts / tt;
      const auto [rr, next_rho] =
          merged_ ? Products{std::max(0.0, ss - omega * ts), r0_s - omega * r0_t} : full_step(solution, alpha, omega);
      const double beta = (alpha / omega) * (next_rho / rho);
      rho = next_rho;
      if (merged_) direction = full_and_direction_step(matrix, solution, alpha, beta, omega);
      if (!monitor.should_continue(std::sqrt(rr))) return std::nullopt;
      if (has_vanished(rho, shadow[1], rr)) return rho;
      // p = r + beta (p - omega v), v = A p
      if (!merged_) direction = update_direction(matrix, beta, omega);
    }
  }

  /// Another shadow vector after a breakdown: r and as much noise as r^T r0 stays at least r^T r / 2 with.
  Products scatter_shadow(double rr, std::int64_t turn) const {
    const double cells = static_cast<double>(grid_.shared().rows()) * static_cast<double>(grid_.columns());
    const double size = std::sqrt(rr / (Components * cells));
    const detail::ScatterShadow<Components> body{r_.access(), shadow_.access(), size, turn};
    return grid_.template totals<2>("steelyard::cavity::bicgstab_shadow", each_component<Components>(body));
  }

  /// @return r0^T v and v^T v
  template <class Operator>
  Products update_direction(const Operator& matrix, double beta, double omega) {
    const auto r = r_.access(), p = p_.access(), v = v_.access();
    const detail::DirectionStep<Components> update{r, p, v, beta, omega};
    return direction_image(matrix, "steelyard::cavity::bicgstab_p",
                           reading(fields(r, p, v), each_component<Components>(update)));
  }
  template <class Operator>
  Products full_and_direction_step(const Operator& matrix, Field& solution, double alpha, double beta, double omega) {
    const auto x = solution.access(), r = r_.access(), p = p_.access(), v = v_.access(), t = t_.access();
    const detail::FullAndDirectionStep<Components> update{x, r, p, v, t, alpha, beta, omega};
    return direction_image(matrix, "steelyard::cavity::bicgstab_update",
                           reading(fields(x, r, p, v, t), each_component<Components>(update)));
  }
  /// v = A p behind an update of p.
  template <class Operator, class Update>
  Products direction_image(const Operator& matrix, const char* label, const Update& update) {
    const auto shadow = shadow_.access();
    const detail::DirectionImage<Operator, Components> image{matrix, p_.access(), shadow, v_.access()};
    return grid_.template for_cells_then_totals<2>(p_, label, update, "steelyard::cavity::bicgstab_v",
                                                   reading(fields(shadow, matrix), each_component<Components>(image)));
  }

  /// @return s^T s, t^T s, t^T t and, for merged reductions, r0^T s and r0^T t
  template <bool merged, class Operator>
  std::array<double, 5> half_step(const Operator& matrix, double alpha) {
    using Image = detail::ResidualImage<Operator, Components, merged>;
    const auto r = r_.access(), v = v_.access(), shadow = shadow_.access();
    const detail::AddMultiple<Components> update{r, v, -alpha};
    const auto image = each_component<Components>(storing(t_, Image{matrix, r, shadow}));
    const auto products_of = [&](const auto& read) {
      return grid_.template for_cells_then_totals<Image::products>(
          r_, "steelyard::cavity::bicgstab_s", reading(fields(r, v), each_component<Components>(update)),
          "steelyard::cavity::bicgstab_t", reading(read, image));
    };
    if constexpr (merged) {
      return products_of(fields(shadow, matrix));
    } else {
      const auto [ss, ts, tt] = products_of(fields(matrix));
      return {ss, ts, tt, 0.0, 0.0};
    }
  }

  void add_direction(Field& solution, double alpha) const {
    grid_.for_cells("steelyard::cavity::add_multiple",
                    each_component<Components>(detail::AddMultiple<Components>{solution.access(), p_.access(), alpha}));
  }

  /// @return r^T r and r0^T r
  Products full_step(Field& solution, double alpha, double omega) {
    const detail::FullStep<Components> update{
        solution.access(), r_.access(), shadow_.access(), t_.access(), p_.access(), alpha, omega};
    return grid_.template totals<2>("steelyard::cavity::bicgstab_update", each_component<Components>(update));
  }

  const UnitGrid<Execution>& grid_;
  bool merged_;
  Field r_;
  Field shadow_;
  Field p_;
  Field v_;
  Field t_;
};

}  // namespace steelyard::cavity
