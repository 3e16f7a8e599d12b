#pragma once

#include <cmath>
#include <cstdint>

#include "comm/unit_grid.hpp"
#include "core/sweep/sweep_body.hpp"
#include "miniapps/cavity/solvers/solve_monitor.hpp"

namespace steelyard::cavity {

namespace detail {

/// r^T r of r = b - offset - A x.
template <class Operator, int Components>
struct SquaredResidual {
  Operator matrix;
  RowAccess<Components> b, x;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const int c, const std::int64_t j, const Column i) const {
    const double residual = b(c, j, i) - offset - matrix(x, c, j, i);
    return {{residual * residual}};
  }
};

}  // namespace detail

/// Mean of the values of all units' cells.
template <class Execution>
double mean(const UnitGrid<Execution>& grid, const RowField<Execution>& field) {
  const double sum = grid.template totals<1>("steelyard::cavity::mean", SumOfCells{field.access()})[0];
  return sum / (static_cast<double>(grid.shared().rows()) * static_cast<double>(grid.columns()));
}

/// Number to take off b so that A x = b has a solution: its mean where A is symmetric and maps constants to 0, as
/// `static constexpr bool maps_constants_to_zero = true` in its class says; otherwise nothing.
template <class Operator, class Execution>
double inconsistent_part(const UnitGrid<Execution>& grid, const Operator&, const RowField<Execution>& b) {
  if constexpr (requires { requires Operator::maps_constants_to_zero; }) {
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
  const auto sums =
      grid.template totals_with_halo<1>(solution, "steelyard::cavity::true_residual",
                                        each_component<Components>(detail::SquaredResidual<Operator, Components>{
                                            matrix, right_side.access(), solution.access(), offset}));
  return std::sqrt(sums[0]);
}

/// a^T b.
template <class Execution, int Components>
double inner_product(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& a,
                     const RowField<Execution, Components>& b) {
  return grid.template totals<1>("steelyard::cavity::inner_product",
                                 each_component<Components>(InnerProduct<Components>{a.access(), b.access()}))[0];
}

/// x = 0 in the unit's own rows.
template <class Execution, int Components>
void set_to_zero(const UnitGrid<Execution>& grid, RowField<Execution, Components>& field) {
  grid.for_cells("steelyard::cavity::zero", each_component<Components>(SetToZero<Components>{field.access()}));
}

/// x += factor y in the unit's own rows.
template <class Execution, int Components>
void add_multiple(const UnitGrid<Execution>& grid, RowField<Execution, Components>& to, const double factor,
                  const RowField<Execution, Components>& field) {
  grid.for_cells("steelyard::cavity::add_multiple",
                 each_component<Components>(AddMultiple<Components>{to.access(), field.access(), factor}));
}

/// Whether a solve has to iterate from r = b - A x. Sets x to 0 where nothing else solves the system.
/// @param residual_square,right_side_square r^T r and b^T b
template <class Execution, int Components>
bool should_iterate(SolveMonitor& monitor, const UnitGrid<Execution>& grid, const double residual_square,
                    const double right_side_square, RowField<Execution, Components>& solution) {
  if (!monitor.should_iterate(std::sqrt(residual_square), std::sqrt(right_side_square))) return false;
  if (!monitor.solution_is_zero()) return true;
  set_to_zero(grid, solution);
  monitor.end_with_zero();
  return false;
}

}  // namespace steelyard::cavity
