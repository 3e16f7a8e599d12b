#pragma once

#include <cstdint>

#include "miniapps/cavity/column.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// What cell (j, i) adds to p^T A p. Operators may say so in a cheaper way than by a product with A, as a sum over
/// faces.
template <class Operator>
KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const Operator& matrix, const RowAccess<1>& p, const std::int64_t j,
                                                  const Column i) {
  if constexpr (requires { matrix.quadratic_form(p, j, i); }) {
    return matrix.quadratic_form(p, j, i);
  } else {
    return p(j, i) * matrix(p, 0, j, i);
  }
}

}  // namespace steelyard::cavity
