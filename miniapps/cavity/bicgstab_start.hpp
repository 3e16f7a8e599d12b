#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

/// What has vanished beside the vectors that made it, for BiCGSTAB: rounding would be all that is left of it.
inline bool has_vanished(double product, double squares, double other_squares) {
  return !(std::abs(product) > 1e-14 * std::sqrt(squares) * std::sqrt(other_squares));
}

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

}  // namespace detail

/// BiCGSTAB's vectors where it begins: r = b - A x and the shadow vector equal to it. @return r^T r and b^T b
template <class Operator, class Execution, int Components>
std::array<double, 2> bicgstab_start(const UnitGrid<Execution>& grid, const Operator& matrix,
                                     const RowField<Execution, Components>& right_side,
                                     RowField<Execution, Components>& solution,
                                     const RowField<Execution, Components>& residual,
                                     const RowField<Execution, Components>& shadow_vector) {
  const auto b = right_side.access(), x = solution.access(), r = residual.access(), shadow = shadow_vector.access();
  return grid.template totals_with_halo<2>(
      solution, "steelyard::cavity::bicgstab_start",
      reading(fields(b, around_cells(x), matrix),
              each_component<Components>(detail::StartWithShadow<Operator, Components>{matrix, b, x, r, shadow})));
}

/// Another shadow vector after a breakdown: r and as much noise as r^T shadow stays at least r^T r / 2 with.
/// @return r^T shadow and shadow^T shadow
template <class Execution, int Components>
std::array<double, 2> scatter_shadow(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& residual,
                                     const RowField<Execution, Components>& shadow_vector, const double squares,
                                     const std::int64_t turn) {
  const auto r = residual.access(), shadow = shadow_vector.access();
  const double values = Components * static_cast<double>(grid.shared().rows()) * static_cast<double>(grid.columns());
  const double size = std::sqrt(squares / values);
  return grid.template totals<2>("steelyard::cavity::bicgstab_shadow",
                                 each_component<Components>(detail::ScatterShadow<Components>{r, shadow, size, turn}));
}

}  // namespace steelyard::cavity
