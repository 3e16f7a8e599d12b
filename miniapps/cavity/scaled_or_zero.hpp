#pragma once

#include <Kokkos_Macros.hpp>

namespace steelyard::cavity {

/// factor x, and 0 for a factor of 0 whatever x is: what an iteration keeps of the one before, of which there is none
/// at first. Reads x in any case, for compilers to vectorise what is around it.
KOKKOS_FORCEINLINE_FUNCTION double scaled_or_zero(const double factor, const double x) {
  const double product = factor * x;
  return factor == 0.0 ? 0.0 : product;
}

}  // namespace steelyard::cavity
