#pragma once

#include "core/compatibility.hpp"

namespace steelyard::cavity {

/// What a cell adds to each of N sums.
template <int N>
struct Terms {
  double of[N] = {};

  KOKKOS_INLINE_FUNCTION void operator+=(const Terms& other) {
    for (int k = 0; k < N; ++k) of[k] += other.of[k];
  }
};

}  // namespace steelyard::cavity
