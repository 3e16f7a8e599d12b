#pragma once

#include <cstdint>

#include "miniapps/cavity/column.hpp"
#include "miniapps/cavity/preconditioner.hpp"
#include "miniapps/cavity/row_field.hpp"
#include "miniapps/cavity/terms.hpp"

/// What an iteration of BiCGSTAB does in each cell, in both of its forms.
namespace steelyard::cavity::detail {

/// v = A p^; r0^T v and v^T v.
template <class Operator, int Components>
struct DirectionImage {
  Operator matrix;
  RowAccess<Components> direction, shadow, v;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = matrix(direction, c, j, i);
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

}  // namespace steelyard::cavity::detail
