#pragma once

#include <cstdint>

#include "miniapps/cavity/device_rows.hpp"
#include "miniapps/cavity/terms.hpp"

namespace steelyard::cavity::detail {

/// Not in the loop itself; HostRowSums says why.
template <int N, class Body, int Lanes>
KOKKOS_FORCEINLINE_FUNCTION void keep_larger(const Body& body, const std::int64_t j, const std::int64_t i,
                                             const int lane, double (&largest)[N][Lanes]) {
  const Terms<N> terms = body(j, i);
  for (int k = 0; k < N; ++k) largest[k][lane] = larger(terms.of[k], largest[k][lane]);
}

/// The largest terms of a row, by one host thread, in lanes like host_row_terms().
template <int N, class Body>
KOKKOS_FORCEINLINE_FUNCTION Terms<N> host_row_maxima(const Body& body, const std::int64_t j,
                                                     const std::int64_t columns) {
  constexpr int lanes = 8;
  double largest[N][lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= columns; i += lanes) {
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (int lane = 0; lane < lanes; ++lane) keep_larger<N>(body, j, i + lane, lane, largest);
  }
  Terms<N> total;
  for (; i < columns; ++i) {
    const Terms<N> terms = body(j, i);
    for (int k = 0; k < N; ++k) total.of[k] = larger(terms.of[k], total.of[k]);
  }
  for (int k = 0; k < N; ++k) {
    for (const double value : largest[k]) total.of[k] = larger(value, total.of[k]);
  }
  return total;
}

}  // namespace steelyard::cavity::detail
