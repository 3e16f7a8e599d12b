#pragma once

#include <cstdint>

#include "core/compatibility.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

namespace detail {

/// z = M^-1 r.
template <class Pointwise, int Components>
struct ApplyPointwise {
  Pointwise inverse;
  RowAccess<Components> r, z;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    z(c, j, i) = inverse(r(c, j, i), c, j, i);
  }
};

}  // namespace detail

/// z = r / diagonal of A, for fields of any number of components. Solvers call it value by value in sweeps of their
/// own.
template <class Operator>
struct JacobiPreconditioner {
  static constexpr bool is_identity = false;
  static constexpr bool is_pointwise = true;

  Operator matrix;  ///< its diagonal(c, j, i) is not 0, but perhaps where r always is

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double r, const int c, const std::int64_t j,
                                                const Column i) const {
    return r / matrix.diagonal(c, j, i);
  }

  template <class Execution, int Components>
  void apply(const UnitGrid<Execution>& grid, RowField<Execution, Components>& r,
             RowField<Execution, Components>& z) const {
    grid.for_cells("steelyard::cavity::jacobi",
                   each_component<Components>(
                       detail::ApplyPointwise<JacobiPreconditioner, Components>{*this, r.access(), z.access()}));
  }
};
template <class Operator>
JacobiPreconditioner(Operator) -> JacobiPreconditioner<Operator>;

}  // namespace steelyard::cavity
