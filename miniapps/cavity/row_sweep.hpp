#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/compensated_sum.hpp"
#include "core/spaces.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// What a cell adds to each of N sums.
template <int N>
struct Terms {
  double of[N] = {};

  KOKKOS_INLINE_FUNCTION void operator+=(const Terms& other) {
    for (int k = 0; k < N; ++k) of[k] += other.of[k];
  }
};
template <int N>
using Sums = std::array<CompensatedSum, static_cast<std::size_t>(N)>;

namespace detail {

template <class Execution>
using RowPolicy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;

/// One row of cells, by one host thread. The body is a copy, for compilers to see that no store changes it.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void host_row(const Body body, const std::int64_t j, const std::int64_t columns) {
#if defined(_OPENMP)
#pragma omp simd
#endif
  for (std::int64_t i = 0; i < columns; ++i) body(j, i);
}

/// The same with sums, each in `lanes` parts that take turns: compilers may not choose the order, so that it is the
/// same for a row whoever computes it. Terms of a few cells at a time wait in the first cache to be summed up:
/// compilers vectorise both loops, but not many bodies with sums of a given order in them.
template <int N, class Body>
KOKKOS_FORCEINLINE_FUNCTION Terms<N> host_row_terms(const Body body, const std::int64_t j, const std::int64_t columns) {
  constexpr int lanes = 8, block = 128;
  double sums[N][lanes] = {};
  double waiting[N][block];
  for (std::int64_t first = 0; first < columns; first += block) {
    const int count = columns - first < block ? static_cast<int>(columns - first) : block;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (int i = 0; i < count; ++i) {
      const Terms<N> terms = body(j, first + i);
      for (int k = 0; k < N; ++k) waiting[k][i] = terms.of[k];
    }
    for (int i = count; i % lanes != 0; ++i) {
      for (int k = 0; k < N; ++k) waiting[k][i] = 0.0;
    }
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < count; i += lanes) {
        for (int lane = 0; lane < lanes; ++lane) sums[k][lane] += waiting[k][i + lane];
      }
    }
  }
  Terms<N> total;
  for (int k = 0; k < N; ++k) {
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) sums[k][lane] += sums[k][lane + half];
    }
    total.of[k] = sums[k][0];
  }
  return total;
}

/// A team sums up a row: each thread the cells a team's width apart, then as a tree in the team's memory.
template <int N, class Body>
struct RowTeam {
  static constexpr int threads = 128;
  Body body;
  double* row_terms;
  std::int64_t first;
  std::int64_t columns;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t j = first + member.league_rank();
    Terms<N> own;
    for (std::int64_t i = member.team_rank(); i < columns; i += member.team_size()) own += body(j, i);
    for (int k = 0; k < N; ++k) {
      double total = own.of[k];
      member.team_reduce(Kokkos::Sum<double>(total));
      if (member.team_rank() == 0) row_terms[member.league_rank() * N + k] = total;
    }
  }
};

}  // namespace detail

/// Calls `body(j, i)` for all cells of some rows, in any order, on the unit's queue; the caller fences.
template <class Execution, class Body>
void for_cells(const Execution& space, const char* label, RowRange rows, std::int64_t columns, const Body& body) {
  if (rows.empty() || columns == 0) return;
  if constexpr (runs_on_host<Execution>) {
    Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, rows.begin, rows.end),
                         [=](const std::int64_t j) { detail::host_row(body, j, columns); });
  } else {
    using Policy = Kokkos::MDRangePolicy<Execution, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                         Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(label, Policy(space, {rows.begin, std::int64_t{0}}, {rows.end, columns}, {4, 64}), body);
  }
}

/// Sums over cells: rows are summed up in a fixed order each and then, in row order, with compensation, so that the
/// total does not depend on how rows are shared out.
template <class Execution>
class CellSums {
 public:
  static constexpr int most_sums = 5;

  CellSums() = default;
  /// @param most_rows of one sweep
  CellSums(const Execution& space, std::int64_t most_rows)
      : row_terms_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::cavity::row_terms"),
                   static_cast<std::size_t>(most_rows * most_sums)),
        pinned_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::cavity::pinned_row_terms"),
                runs_on_host<Execution> ? 0 : row_terms_.size()) {
    space.fence();
  }

  /// Adds up `body(j, i)`, Terms<N>, over all cells of some rows; fences. @param sums are added to
  template <int N, class Body>
  void add(const Execution& space, const char* label, RowRange rows, std::int64_t columns, Sums<N>& sums,
           const Body& body) const {
    static_assert(N <= most_sums);
    if (rows.empty() || columns == 0) return;
    double* const row_terms = row_terms_.data();
    const std::int64_t first = rows.begin;
    if constexpr (runs_on_host<Execution>) {
      Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, rows.begin, rows.end), [=](const std::int64_t j) {
        const Terms<N> terms = detail::host_row_terms<N>(body, j, columns);
        for (int k = 0; k < N; ++k) row_terms[(j - first) * N + k] = terms.of[k];
      });
      space.fence();
      collect<N>(row_terms, rows.count(), sums);
    } else {
      using Team = detail::RowTeam<N, Body>;
      Kokkos::parallel_for(label, Kokkos::TeamPolicy<Execution>(space, static_cast<int>(rows.count()), Team::threads),
                           Team{body, row_terms, first, columns});
      const auto size = static_cast<std::size_t>(rows.count() * N);
      Kokkos::deep_copy(space, Kokkos::subview(pinned_, std::make_pair(std::size_t{0}, size)),
                        Kokkos::subview(row_terms_, std::make_pair(std::size_t{0}, size)));
      space.fence();
      collect<N>(pinned_.data(), rows.count(), sums);
    }
  }

 private:
  template <int N>
  static void collect(const double* row_terms, std::int64_t rows, Sums<N>& sums) {
    for (std::int64_t j = 0; j < rows; ++j) {
      for (int k = 0; k < N; ++k) sums[static_cast<std::size_t>(k)].add(row_terms[j * N + k]);
    }
  }

  Kokkos::View<double*, DeviceOf<Execution>> row_terms_;
  Kokkos::View<double*, PinnedMemory> pinned_;
};

}  // namespace steelyard::cavity
