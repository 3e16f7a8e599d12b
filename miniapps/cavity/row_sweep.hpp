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

/// Sums over a row's cells, each in parts that take turns: compilers may not choose the order, so that it is the same
/// for a row whoever computes it. Terms of a block of cells wait in the first cache to be summed up: compilers
/// vectorise both loops, but not many bodies with sums of a given order in them.
template <int N>
class HostRowSums {
 public:
  static constexpr int block = 128;

  /// @param count of cells from `first` on, at most a block @param body a copy, as in host_row()
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Body body, const std::int64_t j, const std::int64_t first,
                                       const int count) {
    double waiting[N][block];
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
        for (int lane = 0; lane < lanes; ++lane) sums_[k][lane] += waiting[k][i + lane];
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION double total(const int k) {
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) sums_[k][lane] += sums_[k][lane + half];
    }
    return sums_[k][0];
  }

 private:
  static constexpr int lanes = 8;
  double sums_[N][lanes] = {};
};

/// Sums of up to Band rows, by one host thread. @param row_terms N of each row
template <int N, int Band, class Body>
KOKKOS_FORCEINLINE_FUNCTION void host_band_terms(const Body body, const RowRange rows, const std::int64_t columns,
                                                 double* const row_terms) {
  constexpr int block = HostRowSums<N>::block;
  const int count = static_cast<int>(rows.count());
  HostRowSums<N> sums[Band];
  for (std::int64_t first = 0; first < columns; first += block) {
    const int cells = columns - first < block ? static_cast<int>(columns - first) : block;
    for (int row = 0; row < count; ++row) sums[row].add(body, rows.begin + row, first, cells);
  }
  for (int row = 0; row < count; ++row) {
    for (int k = 0; k < N; ++k) row_terms[row * N + k] = sums[row].total(k);
  }
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
  /// @tparam Band rows that a host thread sweeps at a time, block by block: several for bodies that read one field
  /// only, which memory delivers faster as several streams
  template <int N, int Band = 1, class Body>
  void add(const Execution& space, const char* label, RowRange rows, std::int64_t columns, Sums<N>& sums,
           const Body& body) const {
    static_assert(N <= most_sums);
    if (rows.empty() || columns == 0) return;
    double* const row_terms = row_terms_.data();
    const std::int64_t first = rows.begin;
    if constexpr (runs_on_host<Execution>) {
      const std::int64_t end = rows.end, bands = (rows.count() + Band - 1) / Band;
      Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, 0, bands), [=](const std::int64_t index) {
        const std::int64_t begin = first + index * Band;
        const RowRange part{begin, begin + Band < end ? begin + Band : end};
        detail::host_band_terms<N, Band>(body, part, columns, row_terms + (begin - first) * N);
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
