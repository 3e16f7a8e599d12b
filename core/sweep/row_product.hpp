#pragma once

#include <cstdint>

#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard {

/// sum_j a_j x_j, the same on all lanes of a team's thread. A host adds in eight lanes, j modulo 8, so that the loop is
/// one of vectors, and then the lanes by pairs; a device adds in the vector lanes of the thread. The order depends on
/// `count` and the unit alone.
/// @param a,x `count` elements in the unit's memory
template <class Member>
KOKKOS_INLINE_FUNCTION double row_product(const Member& member, const RowPointer<const double> a,
                                          const RowPointer<const double> x, const std::int64_t count) {
  if constexpr (runs_on_host<typename Member::execution_space>) {
    (void)member;
    constexpr std::int64_t lanes = 8;
    double sums[lanes] = {};
    const std::int64_t whole = count - count % lanes;
    for (std::int64_t j = 0; j < whole; j += lanes) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += a[j + lane] * x[j + lane];
    }
    for (std::int64_t j = whole; j < count; ++j) sums[j - whole] += a[j] * x[j];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  } else {
    double sum = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, count),
        [&](const std::int64_t j, double& partial) { partial += a[j] * x[j]; }, sum);
    return sum;
  }
}

}  // namespace steelyard
