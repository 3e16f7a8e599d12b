#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/solvers/bicgstab_kernels.hpp"
#include "miniapps/cavity/solvers/preconditioner.hpp"
#include "miniapps/cavity/solvers/vector_operations.hpp"

namespace steelyard::cavity {

/// Stabilised bi-conjugate gradients on one unit's part of a grid, together with all other units, for fields of any
/// number of components, which are one vector to it. Source: 000, Algorithm 3. Where r0^T v, r0^T r or omega vanishes,
/// it restarts from the true residual with another r0.
///
/// With p^ = M^-1 p, s^ = M^-1 s and separate reductions, an iteration sweeps memory three times: p with v = A p^,
/// r0^T v and v^T v a row behind; s = r - alpha v, in place, with t = A s^, s^T s, t^T s and t^T t a row behind; then x
/// and r with r^T r and r0^T r: 136 bytes a value and what A itself reads, without a preconditioner. A pointwise one
/// adds 24 bytes.
///
/// With merged reductions sums are gathered twice rather than four times: the same but for rounding. An iteration
/// sweeps memory twice: s = r - alpha v with t = A s^, s^T s, t^T s, t^T t, r0^T s and r0^T t a row behind, which give
/// omega, r^T r = s^T s - omega t^T s and r0^T r = r0^T s - omega r0^T t; then x, r and p with v = A p^, r0^T v and
/// v^T v a row behind: 120 bytes a value and what A itself reads, without a preconditioner. A pointwise one adds 32
/// bytes. r0^T s, which alpha makes vanish, is what rounding has left of it: without it, the hardest momentum equation
/// of the tests stagnates.
template <class Execution, int Components>
class BiCgStab {
 public:
  using Field = RowField<Execution, Components>;
  /// Traffic of an iteration by each value, without a preconditioner and what A itself reads.
  static constexpr double bytes_per_value = 17 * sizeof(double);
  static constexpr double merged_bytes_per_value = 15 * sizeof(double);

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
  template <class Operator, class Preconditioner>
  SolveReport solve(const Operator& matrix, Preconditioner& preconditioner, const Field& right_side, Field& solution,
                    const SolveSettings& settings) {
    if (!Preconditioner::is_identity && preconditioned_p_.columns() == 0) {
      preconditioned_p_ = grid_.template field<Components>();
      preconditioned_s_ = grid_.template field<Components>();
    }
    SolveMonitor monitor(settings, grid_.shared().rows(), grid_.columns());
    std::optional<double> vanished;
    do {
      // r = b - A x, r0 = r
      const auto [rr, bb] = start(matrix, right_side, solution);
      if (!should_iterate(monitor, grid_, rr, bb, solution)) break;
      const Shadow shadow = vanished ? scatter_shadow(rr, monitor.report().restarts) : Shadow{rr, rr};
      vanished = merged_ ? iterate_merged(matrix, preconditioner, solution, monitor, shadow)
                         : iterate(matrix, preconditioner, solution, monitor, shadow);
    } while (vanished ? monitor.should_restart_after_breakdown(*vanished)
                      : monitor.seems_solved() &&
                            monitor.should_restart(residual_norm(grid_, matrix, right_side, 0.0, solution)));
    return monitor.report();
  }

 private:
  /// Products of the shadow vector: r0^T r and r0^T r0.
  struct Shadow {
    double r, square;
  };

  /// Whether a product has vanished beside the vectors that made it: rounding would be all that is left of it.
  static bool has_vanished(double product, double squares, double other_squares) {
    return !(std::abs(product) > 1e-14 * std::sqrt(squares) * std::sqrt(other_squares));
  }

  /// Algorithm 3 from r and r0 on. @return the divisor that has vanished, if that has ended the iterations
  template <class Operator, class Preconditioner>
  std::optional<double> iterate(const Operator& matrix, Preconditioner& preconditioner, Field& solution,
                                SolveMonitor& monitor, const Shadow& shadow) {
    double rho = shadow.r, beta = 0.0, omega = 0.0;
    for (;;) {
      // p = r + beta (p - omega v), v = A p^
      const auto [r0_v, vv] = update_direction(matrix, preconditioner, beta, omega);
      if (has_vanished(r0_v, shadow.square, vv)) return r0_v;
      // s = r - alpha v, t = A s^
      const double alpha = rho / r0_v;
      const auto [ss, ts, tt] = half_step<false>(matrix, preconditioner, alpha);
      if (std::sqrt(ss) <= monitor.tolerance() || has_vanished(ts, ss, tt)) {
        return end_with_half_step(monitor, solution, alpha, p_hat<Preconditioner>(), ss, ts);
      }
      // x = x + alpha p^ + omega s^, r = s - omega t
      omega = ts / tt;
      const auto [rr, next_rho] = full_step<Preconditioner>(solution, alpha, omega);
      if (!monitor.should_continue(std::sqrt(rr))) return std::nullopt;
      if (has_vanished(next_rho, shadow.square, rr)) return next_rho;
      beta = (alpha / omega) * (next_rho / rho);
      rho = next_rho;
    }
  }

  /// The same with fewer reductions.
  template <class Operator, class Preconditioner>
  std::optional<double> iterate_merged(const Operator& matrix, Preconditioner& preconditioner, Field& solution,
                                       SolveMonitor& monitor, const Shadow& shadow) {
    double rho = shadow.r;
    // p = r, v = A p^
    std::array<double, 2> direction = update_direction(matrix, preconditioner, 0.0, 0.0);
    for (;;) {
      const auto [r0_v, vv] = direction;
      if (has_vanished(r0_v, shadow.square, vv)) return r0_v;
      // s = r - alpha v, t = A s^
      const double alpha = rho / r0_v;
      const auto [ss, ts, tt, r0_s, r0_t] = half_step<true>(matrix, preconditioner, alpha);
      if (std::sqrt(ss) <= monitor.tolerance() || has_vanished(ts, ss, tt)) {
        return end_with_half_step(monitor, solution, alpha, p_hat<Preconditioner>(), ss, ts);
      }
      // x = x + alpha p^ + omega s^, r = s - omega t, p = r + beta (p - omega v), v = A p^
      const double omega = ts / tt, next_rho = r0_s - omega * r0_t;
      const double rr = std::max(0.0, ss - omega * ts), beta = (alpha / omega) * (next_rho / rho);
      rho = next_rho;
      direction = full_and_direction_step(matrix, preconditioner, solution, alpha, beta, omega);
      if (!monitor.should_continue(std::sqrt(rr))) return std::nullopt;
      if (has_vanished(rho, shadow.square, rr)) return rho;
    }
  }

  /// x = x + alpha p^, where s is small enough or omega's divisor has vanished.
  std::optional<double> end_with_half_step(SolveMonitor& monitor, Field& solution, double alpha, const Field& p_hat,
                                           double ss, double ts) const {
    add_multiple(grid_, solution, alpha, p_hat);
    return monitor.should_continue(std::sqrt(ss)) ? std::optional(ts) : std::nullopt;
  }

  /// @return r^T r and b^T b
  template <class Operator>
  std::array<double, 2> start(const Operator& matrix, const Field& right_side, Field& solution) const {
    const auto b = right_side.access(), x = solution.access();
    const detail::StartWithShadow<Operator, Components> body{matrix, b, x, r_.access(), shadow_.access()};
    return grid_.template totals_with_halo<2>(
        solution, "steelyard::cavity::bicgstab_start",
        reading(fields(b, around_cells(x), matrix), each_component<Components>(body)));
  }

  /// Another shadow vector after a breakdown: r and as much noise as r^T r0 stays at least r^T r / 2 with.
  Shadow scatter_shadow(double rr, std::int64_t turn) const {
    const double cells = static_cast<double>(grid_.shared().rows()) * static_cast<double>(grid_.columns());
    const double size = std::sqrt(rr / (Components * cells));
    const detail::ScatterShadow<Components> body{r_.access(), shadow_.access(), size, turn};
    const auto [shadow_r, square] =
        grid_.template totals<2>("steelyard::cavity::bicgstab_shadow", each_component<Components>(body));
    return {shadow_r, square};
  }

  /// @return r0^T v and v^T v
  template <class Operator, class Preconditioner>
  std::array<double, 2> update_direction(const Operator& matrix, Preconditioner& preconditioner, double beta,
                                         double omega) {
    const auto r = r_.access(), p = p_.access(), v = v_.access();
    const auto store = preconditioned_store(preconditioner, preconditioned_p_);
    const detail::DirectionStep<Preconditioner, Components> update{store, r, p, v, beta, omega};
    return direction_image(matrix, preconditioner, "steelyard::cavity::bicgstab_p", fields(r, p, v), update);
  }
  template <class Operator, class Preconditioner>
  std::array<double, 2> full_and_direction_step(const Operator& matrix, Preconditioner& preconditioner, Field& solution,
                                                double alpha, double beta, double omega) {
    const auto x = solution.access(), r = r_.access(), p = p_.access(), v = v_.access(), t = t_.access(),
               ph = p_hat<Preconditioner>().access(), sh = s_hat<Preconditioner>().access();
    const auto store = preconditioned_store(preconditioner, preconditioned_p_);
    const detail::FullAndDirectionStep<Preconditioner, Components> update{store, x,  r,     p,    v,    t,
                                                                          ph,    sh, alpha, beta, omega};
    return direction_image(matrix, preconditioner, "steelyard::cavity::bicgstab_update", fields(x, r, p, v, t), update);
  }
  /// v = A p^ behind an update of p. @return r0^T v and v^T v
  template <class Operator, class Preconditioner, class Fields, class Update>
  std::array<double, 2> direction_image(const Operator& matrix, Preconditioner& preconditioner, const char* label,
                                        const Fields& read, const Update& update) {
    Field& p_hat = this->p_hat<Preconditioner>();
    const auto shadow = shadow_.access();
    const detail::DirectionImage<Operator, Components> image{matrix, p_hat.access(), shadow, v_.access()};
    return updated_totals<2>(preconditioner, grid_, p_, p_hat, label, reading(read, each_component<Components>(update)),
                             "steelyard::cavity::bicgstab_v",
                             reading(fields(shadow, matrix), each_component<Components>(image)));
  }

  /// s = r - alpha v and t = A s^ behind it. @return s^T s, t^T s and t^T t, and for merged reductions r0^T s and r0^T
  /// t
  template <bool merged, class Operator, class Preconditioner>
  auto half_step(const Operator& matrix, Preconditioner& preconditioner, double alpha) {
    using Image = detail::ResidualImage<Operator, Components, Preconditioner::is_identity, merged>;
    Field& s_hat = this->s_hat<Preconditioner>();
    const auto r = r_.access(), v = v_.access(), shadow = shadow_.access();
    const auto store = preconditioned_store(preconditioner, preconditioned_s_);
    const detail::HalfStep<Preconditioner, Components> update{store, r, v, alpha};
    const auto image = each_component<Components>(storing(t_, Image{matrix, s_hat.access(), r, shadow}));
    const auto step = [&](const auto& read) {
      return updated_totals<Image::products>(preconditioner, grid_, r_, s_hat, "steelyard::cavity::bicgstab_s",
                                             reading(fields(r, v), each_component<Components>(update)),
                                             "steelyard::cavity::bicgstab_t", reading(read, image));
    };
    if constexpr (merged) {
      return step(fields(shadow, matrix));
    } else {
      return step(fields(matrix));
    }
  }

  /// @return r^T r and r0^T r
  template <class Preconditioner>
  std::array<double, 2> full_step(Field& solution, double alpha, double omega) {
    const auto x = solution.access(), r = r_.access(), shadow = shadow_.access(), t = t_.access(),
               ph = p_hat<Preconditioner>().access(), sh = s_hat<Preconditioner>().access();
    const detail::FullStep<Components, Preconditioner::is_identity> update{x, r, shadow, t, ph, sh, alpha, omega};
    return grid_.template totals<2>("steelyard::cavity::bicgstab_update", each_component<Components>(update));
  }

  /// p^ and s^, where s takes the place of r.
  template <class Preconditioner>
  Field& p_hat() {
    return Preconditioner::is_identity ? p_ : preconditioned_p_;
  }
  template <class Preconditioner>
  Field& s_hat() {
    return Preconditioner::is_identity ? r_ : preconditioned_s_;
  }

  const UnitGrid<Execution>& grid_;
  bool merged_;
  Field r_;
  Field shadow_;
  Field p_;
  Field v_;
  Field t_;
  Field preconditioned_p_;  ///< only where there is a preconditioner
  Field preconditioned_s_;
};

}  // namespace steelyard::cavity
