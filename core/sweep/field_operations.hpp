#pragma once

#include <cstdint>

#include "core/sweep/row_field.hpp"
#include "core/sweep/sweep_body.hpp"

// Bodies of sweeps that any method has.

namespace steelyard {

/// factor x, and 0 for a factor of 0 whatever x is: what an iteration keeps of the one before, of which there is none
/// at first. Reads x in any case, for compilers to vectorise what is around it.
KOKKOS_FORCEINLINE_FUNCTION double scaled_or_zero(const double factor, const double x) {
  const double product = factor * x;
  return factor == 0.0 ? 0.0 : product;
}

/// The sum of x.
struct SumOfCells {
  RowAccess<1> x;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const { return {{x(j, i)}}; }
};

/// a^T b.
template <int Components>
struct InnerProduct {
  RowAccess<Components> a, b;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const int c, const std::int64_t j, const Column i) const {
    return {{a(c, j, i) * b(c, j, i)}};
  }
};

/// x = 0.
template <int Components>
struct SetToZero {
  RowAccess<Components> x;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    x(c, j, i) = 0.0;
  }
};

/// x = x + factor y.
template <int Components>
struct AddMultiple {
  RowAccess<Components> x, y;
  double factor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    x(c, j, i) += factor * y(c, j, i);
  }
};

}  // namespace steelyard
