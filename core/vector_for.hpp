#pragma once

#include <cstdint>

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

}  // namespace steelyard
