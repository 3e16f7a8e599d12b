#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/compensated_sum.hpp"
#include "core/spaces.hpp"
#include "miniapps/cavity/host_row.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/row_field.hpp"
#include "miniapps/cavity/terms.hpp"

namespace steelyard::cavity {

template <int N>
using Sums = std::array<CompensatedSum, static_cast<std::size_t>(N)>;

namespace detail {

template <class Execution>
using RowPolicy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;

/// Rows that host threads share out among them so that each can follow one sweep with another one a row behind, while
/// the first one's values are in its cache. Chunks have two rows at least, for the ends of each to be different rows.
struct RowChunks {
  RowRange rows;
  std::int64_t count = 1;

  RowChunks(RowRange all, int threads)
      : rows(all), count(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, all.count() / 2))) {}

  RowRange operator[](std::int64_t chunk) const { return {begin(chunk), begin(chunk + 1)}; }
  std::int64_t begin(std::int64_t chunk) const { return rows.begin + rows.count() * chunk / count; }
};

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
    Kokkos::parallel_for(label, Policy(space, {rows.begin, std::int64_t{0}}, {rows.end, columns}, {4, 64}),
                         detail::bare(body));
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
        detail::host_row_terms<N>(body, j, columns, row_terms + (j - first) * N);
      });
      space.fence();
      collect<N>(row_terms, rows.count(), sums);
    } else {
      const auto& bare = detail::bare(body);
      using Team = detail::RowTeam<N, std::decay_t<decltype(bare)>>;
      Kokkos::parallel_for(label, Kokkos::TeamPolicy<Execution>(space, static_cast<int>(rows.count()), Team::threads),
                           Team{bare, row_terms, first, columns});
      const auto size = static_cast<std::size_t>(rows.count() * N);
      Kokkos::deep_copy(space, Kokkos::subview(pinned_, std::make_pair(std::size_t{0}, size)),
                        Kokkos::subview(row_terms_, std::make_pair(std::size_t{0}, size)));
      space.fence();
      collect<N>(pinned_.data(), rows.count(), sums);
    }
  }

  /// The same after `update(j, i)` for all cells of these rows. The body may read what updates have written up to a row
  /// away; those of the row before the first and of the row behind the last have been done. Updates read nothing that
  /// other cells' updates write, nor what bodies write in other cells. Memory is swept once on the host.
  template <int N, class Update, class Body>
  void add_after(const Execution& space, const char* update_label, const Update& update, const char* label,
                 RowRange rows, std::int64_t columns, Sums<N>& sums, const Body& body) const {
    if (rows.empty() || columns == 0) return;
    if constexpr (runs_on_host<Execution>) {
      double* const row_terms = row_terms_.data();
      const std::int64_t first = rows.begin;
      const detail::RowChunks chunks(rows, static_cast<int>(space.concurrency()));
      const auto add_row = [=](const std::int64_t j) {
        detail::host_row_terms<N>(body, j, columns, row_terms + (j - first) * N);
      };
      Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, 0, chunks.count), [=](const std::int64_t chunk) {
        const RowRange own = chunks[chunk];
        const std::int64_t begin = chunk > 0 ? own.begin + 1 : own.begin;
        for (std::int64_t j = own.begin; j <= begin; ++j) detail::host_row(update, j, columns);
        for (std::int64_t j = begin; j + 1 < own.end; ++j) {
          detail::host_row_terms_behind<N>(update, body, j, columns, row_terms + (j - first) * N);
        }
        if (chunk + 1 == chunks.count) add_row(own.end - 1);
      });
      space.fence();
      if (chunks.count > 1) {
        // Rows beside another thread's.
        Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, 1, chunks.count),
                             [=](const std::int64_t chunk) {
                               add_row(chunks.begin(chunk) - 1);
                               add_row(chunks.begin(chunk));
                             });
        space.fence();
      }
      collect<N>(row_terms, rows.count(), sums);
    } else {
      for_cells(space, update_label, rows, columns, update);
      add<N>(space, label, rows, columns, sums, body);
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
