#pragma once

#include <cstdint>
#include <type_traits>

#include "core/spaces.hpp"

namespace steelyard {

/// The innermost loop of a kernel, over [begin, end): the vector lanes of a team's thread on a device, SIMD on the
/// host. Iterations must be independent; `body` takes the index.
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
/// count, which is 1 on a host. Where all of them load before any stores, what they load is on its way at once:
/// compilers have to assume that a store changes what is loaded next.
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

}  // namespace steelyard
