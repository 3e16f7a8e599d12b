#pragma once

#include <cmath>

#include "core/device/back_end.hpp"

namespace steelyard {

/// a b + c, rounded once where the processor does that at full speed, otherwise twice, and the same way wherever it is
/// called. A compiler that is left to decide may contract a loop's body and not its remainder, and fields that are cut
/// up differently would differ in their last bits.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar multiply_add(const Scalar a, const Scalar b, const Scalar c) {
#if defined(STEELYARD_IN_DEVICE_CODE) || (defined(FP_FAST_FMA) && defined(FP_FAST_FMAF))
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace steelyard
