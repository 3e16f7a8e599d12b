#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

/// What solvers ask of a preconditioner M: `static constexpr bool is_identity` and, where that is false,
/// `apply(const UnitGrid<Execution>&, RowField& r, RowField& z)`, which computes z = M^-1 r in the unit's own rows and
/// which all units call together; r's values stay, ghost rows of both may be written. One that needs r in the same
/// place only says so with `static constexpr bool is_pointwise = true` and can be called for a value in kernels:
/// `double operator()(double r, int c, std::int64_t j, Column i) const`.
template <class Preconditioner>
inline constexpr bool is_pointwise = requires {
  requires Preconditioner::is_pointwise;
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

/// z = M^-1 r in a kernel, from r as it is read.
template <class Pointwise, int Components>
struct PreconditionedAccess {
  Pointwise inverse;
  RowAccess<Components> r;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const int c, const std::int64_t j, const Column i) const {
    return inverse(r(c, j, i), c, j, i);
  }
};

/// z in a kernel: computed from `r` on the way, or what apply() left in `z`.
template <class Preconditioner, int Components>
using Preconditioned = std::conditional_t<is_pointwise<Preconditioner>,
                                          PreconditionedAccess<Preconditioner, Components>, RowAccess<Components>>;
template <class Preconditioner, class Execution, int Components>
Preconditioned<Preconditioner, Components> preconditioned(const Preconditioner& preconditioner,
                                                          const RowField<Execution, Components>& r,
                                                          const RowField<Execution, Components>& z) {
  if constexpr (is_pointwise<Preconditioner>) {
    return {preconditioner, r.access()};
  } else {
    return z.access();
  }
}

/// Keeps z = M^-1 r in a kernel that has just computed r, where neighbours will read z and a kernel can compute it.
template <class Preconditioner, int Components>
struct PreconditionedStore {
  static constexpr bool stores = is_pointwise<Preconditioner> && !Preconditioner::is_identity;
  using Pointwise = std::conditional_t<stores, Preconditioner, IdentityPreconditioner>;
  Pointwise inverse;
  RowAccess<Components> z;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const double r, const int c, const std::int64_t j, const Column i) const {
    if constexpr (stores) z(c, j, i) = inverse(r, c, j, i);
  }
};

/// A store into `z`, of which nothing is used where M is the identity or not pointwise.
template <class Preconditioner, class Execution, int Components>
PreconditionedStore<Preconditioner, Components> preconditioned_store(const Preconditioner& preconditioner,
                                                                     const RowField<Execution, Components>& z) {
  if constexpr (PreconditionedStore<Preconditioner, Components>::stores) {
    return {preconditioner, z.access()};
  } else {
    return {};
  }
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
