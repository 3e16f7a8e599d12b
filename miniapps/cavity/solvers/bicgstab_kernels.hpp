#pragma once

#include <cstdint>

#include "miniapps/cavity/solvers/preconditioner.hpp"
#include "miniapps/cavity/solvers/vector_operations.hpp"

// What BiCGSTAB does in a cell.

namespace steelyard::cavity {

/// A number in [-1/2, 1/2) that looks random, the same for the same value of the grid and turn on all units.
KOKKOS_INLINE_FUNCTION double scattered(const std::int64_t c, const std::int64_t j, const std::int64_t i,
                                        const std::int64_t turn) {
  // The finaliser of splitmix64 on an index that no other value shares.
  auto bits = static_cast<std::uint64_t>((turn << 61) ^ (c << 58) ^ (j << 29) ^ i) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>(static_cast<std::int64_t>((bits ^ (bits >> 31)) >> 11)) * 0x1p-53 - 0.5;
}

namespace detail {

/// r = b - A x and the shadow vector r0 = r; r^T r and b^T b.
template <class Operator, int Components>
struct StartWithShadow {
  Operator matrix;
  RowAccess<Components> b, x, r, shadow;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = b(c, j, i) - matrix(x, c, j, i);
    r(c, j, i) = value;
    shadow(c, j, i) = value;
    return {{value * value, b(c, j, i) * b(c, j, i)}};
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

/// v = A p^; r0^T v and v^T v.
template <class Operator, int Components>
struct DirectionImage {
  Operator matrix;
  RowAccess<Components> p_hat, shadow, v;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = matrix(p_hat, c, j, i);
    v(c, j, i) = value;
    return {{shadow(c, j, i) * value, value * value}};
  }
};

/// s = r - alpha v, in the place of r, and s^.
template <class Preconditioner, int Components>
struct HalfStep {
  PreconditionedStore<Preconditioner, Components> store;
  RowAccess<Components> r, v;
  double alpha;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = r(c, j, i) - alpha * v(c, j, i);
    r(c, j, i) = value;
    store(value, c, j, i);
  }
};

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

/// t = A s^; s^T s, t^T s and t^T t, and for merged reductions r0^T s and r0^T t.
template <class Operator, int Components, bool identity, bool merged>
struct ResidualImage {
  static constexpr int products = merged ? 5 : 3;

  Operator matrix;
  RowAccess<Components> s_hat, s_itself, shadow;

  KOKKOS_FORCEINLINE_FUNCTION ValueAndTerms<products> operator()(const int c, const std::int64_t j,
                                                                 const Column i) const {
    const double value = matrix(s_hat, c, j, i), s = identity ? s_hat(c, j, i) : s_itself(c, j, i);
    if constexpr (merged) {
      const double other = shadow(c, j, i);
      return {value, {{s * s, value * s, value * value, other * s, other * value}}};
    } else {
      return {value, {{s * s, value * s, value * value}}};
    }
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
}  // namespace steelyard::cavity
