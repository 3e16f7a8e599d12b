#pragma once

#include <cstdint>

#include "core/spaces.hpp"

namespace steelyard {

/// A loop on the host over [begin, end) in SIMD lanes. Iterations must be independent; `body` takes the index.
template <class Body>
KOKKOS_INLINE_FUNCTION void host_vector_for(const std::int64_t begin, const std::int64_t end, const Body& body) {
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (std::int64_t i = begin; i < end; ++i) body(i);
}

/// The innermost loop of a kernel, over [begin, end): the vector lanes of a team's thread on a device, SIMD on the
/// host. Iterations must be independent; `body` takes the index.
template <class Member, class Body>
KOKKOS_INLINE_FUNCTION void vector_for(const Member& member, const std::int64_t begin, const std::int64_t end,
                                       const Body& body) {
  if constexpr (runs_on_host<typename Member::execution_space>) {
    (void)member;
    // Kokkos' own host loop says nothing about independence, and compilers give up where many rows might overlap.
    host_vector_for(begin, end, body);
  } else {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, begin, end), body);
  }
}

}  // namespace steelyard
