#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "miniapps/cavity/row_sweep.hpp"

namespace steelyard::cavity {

namespace detail {

/// The larger one of a term and the largest one so far, infinity for a term that is not a number: comparisons would
/// lose it.
KOKKOS_FORCEINLINE_FUNCTION double larger(const double term, const double largest) {
  const double known = term == term ? term : HUGE_VAL;
  return known > largest ? known : largest;
}

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

/// The same by a team.
template <int N, class Body>
struct RowMaximaTeam {
  static constexpr int threads = 128;
  Body body;
  double* row_maxima;
  std::int64_t first;
  std::int64_t columns;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t j = first + member.league_rank();
    Terms<N> own;
    for (std::int64_t i = member.team_rank(); i < columns; i += member.team_size()) {
      const Terms<N> terms = body(j, i);
      for (int k = 0; k < N; ++k) own.of[k] = larger(terms.of[k], own.of[k]);
    }
    for (int k = 0; k < N; ++k) {
      double largest = own.of[k];
      member.team_reduce(Kokkos::Max<double>(largest));
      if (member.team_rank() == 0) row_maxima[member.league_rank() * N + k] = largest;
    }
  }
};

}  // namespace detail

/// The largest of each of N terms, none of which is negative, over some rows' cells; infinity where one is not a
/// number. Fences. @param body gives Terms<N>
template <int N, class Execution, class Body>
std::array<double, static_cast<std::size_t>(N)> cell_maxima(const Execution& space, const char* label, RowRange rows,
                                                            std::int64_t columns, const Body& body) {
  std::array<double, static_cast<std::size_t>(N)> maxima = {};
  if (rows.empty() || columns == 0) return maxima;
  const auto size = static_cast<std::size_t>(rows.count() * N);
  const Kokkos::View<double*, DeviceOf<Execution>> memory(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::cavity::row_maxima"), size);
  double* const row_maxima = memory.data();
  const std::int64_t first = rows.begin;
  const auto collect = [&](const double* terms) {
    for (std::size_t i = 0; i < size; ++i) {
      maxima[i % N] = detail::larger(terms[i], maxima[i % N]);
    }
  };
  if constexpr (runs_on_host<Execution>) {
    Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, rows.begin, rows.end), [=](const std::int64_t j) {
      const Terms<N> terms = detail::host_row_maxima<N>(body, j, columns);
      for (int k = 0; k < N; ++k) row_maxima[(j - first) * N + k] = terms.of[k];
    });
    space.fence();
    collect(row_maxima);
  } else {
    using Team = detail::RowMaximaTeam<N, Body>;
    Kokkos::parallel_for(label, Kokkos::TeamPolicy<Execution>(space, static_cast<int>(rows.count()), Team::threads),
                         Team{body, row_maxima, first, columns});
    const Kokkos::View<double*, PinnedMemory> pinned(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::cavity::pinned_row_maxima"), size);
    Kokkos::deep_copy(space, pinned, memory);
    space.fence();
    collect(pinned.data());
  }
  return maxima;
}

}  // namespace steelyard::cavity
