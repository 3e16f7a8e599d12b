#pragma once

#include <cmath>
#include <cstdint>

#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

/// Whether constants are in a matrix's null space: `static constexpr bool maps_constants_to_zero = true` in its class.
template <class Operator>
inline constexpr bool maps_constants_to_zero = requires {
  requires Operator::maps_constants_to_zero;
};

/// Mean of the values of all units' cells.
template <class Execution>
double mean(const UnitGrid<Execution>& grid, const RowField<Execution>& field) {
  const auto value = field.access();
  const double sum = grid.template totals<1>(
      "steelyard::cavity::mean",
      KOKKOS_LAMBDA(const std::int64_t j, const Column i) { return Terms<1>{{value(j, i)}}; })[0];
  return sum / (static_cast<double>(grid.shared().rows()) * static_cast<double>(grid.columns()));
}

/// What to take off b so that A x = b has a solution: its mean where A is symmetric and maps constants to 0; otherwise
/// nothing.
template <class Operator, class Execution>
double inconsistent_part(const UnitGrid<Execution>& grid, const Operator&, const RowField<Execution>& b) {
  if constexpr (maps_constants_to_zero<Operator>) {
    return mean(grid, b);
  } else {
    return 0.0;
  }
}

/// |b - offset - A x|_2, over all components. All units call it; x's halo is exchanged.
template <class Operator, class Execution, int Components>
double residual_norm(const UnitGrid<Execution>& grid, const Operator& matrix,
                     const RowField<Execution, Components>& right_side, const double offset,
                     RowField<Execution, Components>& solution) {
  const auto b = right_side.access(), x = solution.access();
  const auto sums = grid.template totals_with_halo<1>(
      solution, "steelyard::cavity::true_residual",
      each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
        const double residual = b(c, j, i) - offset - matrix(x, c, j, i);
        return Terms<1>{{residual * residual}};
      }));
  return std::sqrt(sums[0]);
}

/// a^T b.
template <class Execution, int Components>
double inner_product(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& a,
                     const RowField<Execution, Components>& b) {
  const auto left = a.access(), right = b.access();
  return grid.template totals<1>(
      "steelyard::cavity::inner_product",
      each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
        return Terms<1>{{left(c, j, i) * right(c, j, i)}};
      }))[0];
}

/// x = 0 in the unit's own rows.
template <class Execution, int Components>
void set_to_zero(const UnitGrid<Execution>& grid, RowField<Execution, Components>& field) {
  const auto x = field.access();
  grid.for_cells("steelyard::cavity::zero",
                 each_component<Components>(
                     KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) { x(c, j, i) = 0.0; }));
}

/// x += factor y in the unit's own rows.
template <class Execution, int Components>
void add_multiple(const UnitGrid<Execution>& grid, RowField<Execution, Components>& to, const double factor,
                  const RowField<Execution, Components>& field) {
  const auto x = to.access(), y = field.access();
  grid.for_cells("steelyard::cavity::add_multiple",
                 each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
                   x(c, j, i) += factor * y(c, j, i);
                 }));
}

}  // namespace steelyard::cavity
