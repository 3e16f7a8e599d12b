#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "comm/unit_grid.hpp"

namespace steelyard::cavity {

/// Whether a preconditioner M needs r in a cell for z = M^-1 r there, and nothing else.
///
/// Solvers use `static constexpr bool is_identity` of a preconditioner. A pointwise one has `static constexpr bool
/// is_pointwise = true` and can be called for a value in kernels: `double operator()(double r, int c, std::int64_t j,
/// Column i) const`. Any other one has `apply(const UnitGrid<Execution>&, RowField& r, RowField& z)`, which computes z
/// in the unit's own rows and which all units call together; r's values stay, ghost rows of both may be written.
template <class Preconditioner>
inline constexpr bool is_pointwise = requires {
  requires Preconditioner::is_pointwise;
};

/// No preconditioner: z = r, which solvers do not even copy. Source: 000, section 5.3.4.
struct IdentityPreconditioner {
  static constexpr bool is_identity = true;
  static constexpr bool is_pointwise = true;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double r, int, std::int64_t, Column) const { return r; }
};

/// z = r / diagonal of A, for fields of any number of components.
template <class Operator>
struct JacobiPreconditioner {
  static constexpr bool is_identity = false;
  static constexpr bool is_pointwise = true;

  Operator matrix;  ///< its diagonal(c, j, i) is not 0, but perhaps where r always is

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double r, const int c, const std::int64_t j,
                                                const Column i) const {
    return r / matrix.diagonal(c, j, i);
  }
};

/// A pointwise preconditioner as a kernel's callable; for any other one, a stand-in that changes nothing.
template <class Preconditioner>
using PointwisePart = std::conditional_t<is_pointwise<Preconditioner>, Preconditioner, IdentityPreconditioner>;
template <class Preconditioner>
PointwisePart<Preconditioner> pointwise_part(const Preconditioner& preconditioner) {
  if constexpr (is_pointwise<Preconditioner>) {
    return preconditioner;
  } else {
    return {};
  }
}

/// Whether kernels that compute r also compute z = M^-1 r and store it, for neighbours to read.
template <class Preconditioner>
inline constexpr bool stores_pointwise = is_pointwise<Preconditioner> && !Preconditioner::is_identity;

/// Stores z = M^-1 r in a kernel that has just computed r; does nothing where M is the identity or not pointwise.
template <class Preconditioner, int Components>
struct PreconditionedStore {
  PointwisePart<Preconditioner> inverse;
  RowAccess<Components> z;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const double r, const int c, const std::int64_t j, const Column i) const {
    if constexpr (stores_pointwise<Preconditioner>) z(c, j, i) = inverse(r, c, j, i);
  }
};
template <class Preconditioner, class Execution, int Components>
PreconditionedStore<Preconditioner, Components> preconditioned_store(const Preconditioner& preconditioner,
                                                                     const RowField<Execution, Components>& z) {
  return {pointwise_part(preconditioner), z.access()};
}

/// z = M^-1 r by the preconditioner's own sweeps, where it is not pointwise.
template <class Preconditioner, class Execution, int Components>
void apply_unless_pointwise(Preconditioner& preconditioner, const UnitGrid<Execution>& grid,
                            RowField<Execution, Components>& r, RowField<Execution, Components>& z) {
  if constexpr (!is_pointwise<Preconditioner>) preconditioner.apply(grid, r, z);
}

/// Totals of `body` after `update` has computed r in all cells, and z = M^-1 r after it: by `update` itself where M is
/// the identity, z then being r, or pointwise; in between where M has sweeps of its own. `body` may read z up to a row
/// away. What both may read: UnitGrid::for_cells_then_totals().
template <int N, class Preconditioner, class Execution, int Components, class Update, class Body>
std::array<double, N> updated_totals(Preconditioner& preconditioner, const UnitGrid<Execution>& grid,
                                     RowField<Execution, Components>& r, RowField<Execution, Components>& z,
                                     const char* update_label, const Update& update, const char* label,
                                     const Body& body) {
  if constexpr (is_pointwise<Preconditioner>) {
    return grid.template for_cells_then_totals<N>(z, update_label, update, label, body);
  } else {
    grid.for_cells(update_label, update);
    preconditioner.apply(grid, r, z);
    return grid.template totals_with_halo<N>(z, label, body);
  }
}

}  // namespace steelyard::cavity
