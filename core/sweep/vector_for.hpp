#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"

// A kernel's innermost loop: along a row, and the arithmetic that is the same wherever it runs.

namespace steelyard {

/// a b + c, rounded once where the processor does that at full speed, otherwise twice, and the same way everywhere: a
/// compiler that is left to decide may contract a loop's body and not its remainder.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar multiply_add(const Scalar a, const Scalar b, const Scalar c) {
#if defined(STEELYARD_IN_DEVICE_CODE) || (defined(FP_FAST_FMA) && defined(FP_FAST_FMAF))
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Calls body(i) for independent i in [begin, end): by vector lanes of a team's thread on a device, SIMD on the host.
template <class Member, class Body>
KOKKOS_INLINE_FUNCTION void vector_for(const Member& member, const std::int64_t begin, const std::int64_t end,
                                       const Body& body) {
  if constexpr (runs_on_host<typename Member::execution_space>) {
    (void)member;
    // Kokkos' own host loop says nothing about independence, and compilers give up where many rows might overlap.
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (std::int64_t i = begin; i < end; ++i) body(i);
  } else {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, begin, end), body);
  }
}

/// Calls body(i, count) for `count` iterations at a time on a device: i, i + lanes, …, with an integral constant as
/// count, which is 1 on a host. Where all of them load before any stores, what they load is on its way at once.
/// @tparam most iterations at a time on a device @tparam lanes of a team's thread there
template <int most, int lanes, class Member, class Body>
KOKKOS_FORCEINLINE_FUNCTION void vector_for_several(const Member& member, const std::int64_t begin,
                                                    const std::int64_t end, const Body& body) {
  if constexpr (runs_on_host<typename Member::execution_space>) {
    vector_for(member, begin, end, [=](const std::int64_t i) { body(i, std::integral_constant<int, 1>()); });
  } else {
    // By value: a device has no address of a host's constant.
    constexpr int count = most, width = lanes;
    constexpr std::int64_t step = lanes;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, width), [&](const int lane) {
      std::int64_t i = begin + lane;
      for (; i + (count - 1) * step < end; i += count * step) body(i, std::integral_constant<int, count>());
      for (; i < end; i += step) body(i, std::integral_constant<int, 1>());
    });
  }
}

/// sum_j a_j x_j of `count` elements in the unit's memory, the same on all lanes of a team's thread. A host adds in
/// eight lanes, j modulo 8, which vectorises, and then the lanes by pairs; a device in the vector lanes of the thread.
/// The order depends on `count` and the unit alone.
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
