#pragma once

#include <cstdint>

#include "core/compatibility.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {

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
    const auto from = r.access(), to = z.access();
    const JacobiPreconditioner inverse = *this;
    grid.for_cells("steelyard::cavity::jacobi",
                   each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
                     to(c, j, i) = inverse(from(c, j, i), c, j, i);
                   }));
  }
};
template <class Operator>
JacobiPreconditioner(Operator) -> JacobiPreconditioner<Operator>;

}  // namespace steelyard::cavity
