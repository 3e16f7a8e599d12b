#pragma once

#include <cstdint>

namespace steelyard {

/// A loop over [begin, end) in the SIMD lanes of a host's core, outside of a team; vector_for() is for loops within
/// one. Iterations must be independent; `body` takes the index.
template <class Body>
void host_vector_for(const std::int64_t begin, const std::int64_t end, const Body& body) {
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (std::int64_t i = begin; i < end; ++i) body(i);
}

}  // namespace steelyard
