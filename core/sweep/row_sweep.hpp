#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/memory/host_copy.hpp"
#include "core/sweep/compensated_sum.hpp"
#include "core/sweep/device_rows.hpp"
#include "core/sweep/host_row.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/sweep_body.hpp"

namespace steelyard {

template <int N>
using Sums = std::array<CompensatedSum, static_cast<std::size_t>(N)>;

namespace detail {

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

/// Calls `body(k, chunk)` for consecutive chunks of some rows, by host thread k of the unit; one thread sweeps all rows
/// where few cells do not pay for waking up the others. The caller fences. @param row_cells cells that a row costs
template <class Execution, class Body>
void for_row_chunks(const Execution& space, const char* label, RowRange rows, std::int64_t row_cells,
                    const Body& body) {
  static_assert(runs_on_host<Execution>);
  constexpr std::int64_t few_cells = 4096;
  const detail::RowChunks chunks(rows, static_cast<int>(space.concurrency()));
  if (rows.count() * row_cells <= few_cells || chunks.count == 1) {
    body(0, rows);
    return;
  }
  Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, 0, chunks.count),
                       [=](const std::int64_t k) { body(k, chunks[k]); });
}

/// Sums over a unit's cells: rows are summed up in a fixed order each and then, with compensation, all of them, so that
/// totals depend neither on how rows are shared out nor on what sums them up. Sweeps fence; between two totals every
/// row of the unit is swept once, in whatever pieces.
template <class Execution>
class CellSums {
 public:
  static constexpr int most_sums = 5;

  CellSums() = default;
  /// @param rows of the unit
  CellSums(const Execution& space, RowRange rows)
      : rows_(rows),
        row_terms_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::sweep::row_terms"),
                   static_cast<std::size_t>(rows.count() * most_sums)) {
    if constexpr (!runs_on_host<Execution>) {
      swept_ = decltype(swept_)("steelyard::sweep::swept_rows", 1);
      total_ = decltype(total_)(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::sweep::total"), most_sums);
      pinned_total_ = decltype(pinned_total_)(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::sweep::pinned_total"), most_sums);
    }
    space.fence();
  }

  /// Sums up `body(j, i)`, Terms<N>, over all cells of some rows.
  template <int N, class Body>
  void sweep(const Execution& space, const char* label, RowPieces rows, std::int64_t columns, const Body& body) const {
    sweep_rows<N, detail::AddTerms>(space, label, rows, columns, body);
  }

  /// Sums up as sweep() does, after `update(j, i)` for all cells of these rows. The body may read what updates have
  /// written up to a row away; those of the row before the first and of the row behind the last have been done. Updates
  /// read nothing that other cells' updates write, nor what bodies write in other cells. Memory is swept once on the
  /// host.
  template <int N, class Update, class Body>
  void sweep_after(const Execution& space, const char* update_label, const Update& update, const char* label,
                   RowRange rows, std::int64_t columns, const Body& body) const {
    if (rows.empty() || columns == 0) return;
    if constexpr (runs_on_host<Execution>) {
      const RowPointer<double> row_terms = elements_of(row_terms_);
      const std::int64_t first = rows_.begin;
      const detail::RowChunks chunks(rows, static_cast<int>(space.concurrency()));
      const auto add_row = [=](const std::int64_t j) {
        detail::host_row_terms<N>(body, j, columns, &row_terms[(j - first) * N]);
      };
      Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, 0, chunks.count), [=](const std::int64_t chunk) {
        const RowRange own = chunks[chunk];
        const std::int64_t begin = chunk > 0 ? own.begin + 1 : own.begin;
        for (std::int64_t j = own.begin; j <= begin; ++j) detail::host_row(update, j, columns);
        for (std::int64_t j = begin; j + 1 < own.end; ++j) {
          detail::host_row_terms_behind<N>(update, body, j, columns, &row_terms[(j - first) * N]);
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
    } else {
      for_cells(space, update_label, rows, columns, update);
      sweep<N>(space, label, {rows, {}}, columns, body);
    }
  }

  /// Sum over the rows that have been swept since the last total.
  template <int N>
  Sums<N> total(const Execution& space, std::int64_t columns) const {
    Sums<N> sums;
    if (rows_.empty() || columns == 0) return sums;
    if constexpr (runs_on_host<Execution>) {
      for (std::int64_t j = 0; j < rows_.count(); ++j) {
        for (int k = 0; k < N; ++k) sums[static_cast<std::size_t>(k)].add(row_terms_(j * N + k));
      }
    } else {
      copy_to_host(space, pinned_total_.data(), static_cast<const CompensatedSum*>(total_.data()), N);
      space.fence();
      std::copy_n(pinned_total_.data(), N, sums.begin());
    }
    return sums;
  }

  /// The largest of each of N terms, none of which is negative, over the unit's cells; infinity where one is not a
  /// number. @param body gives Terms<N>
  template <int N, class Body>
  std::array<double, static_cast<std::size_t>(N)> maxima(const Execution& space, const char* label,
                                                         std::int64_t columns, const Body& body) const {
    std::array<double, static_cast<std::size_t>(N)> maxima = {};
    if (rows_.empty() || columns == 0) return maxima;
    sweep_rows<N, detail::KeepLarger>(space, label, {rows_, {}}, columns, body);
    if constexpr (runs_on_host<Execution>) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(rows_.count() * N); ++i) {
        maxima[i % N] = detail::larger(row_terms_.data()[i], maxima[i % N]);
      }
    } else {
      auto* const pinned = reinterpret_cast<double*>(pinned_total_.data());
      copy_to_host(space, pinned, reinterpret_cast<const double*>(total_.data()), N);
      space.fence();
      std::copy_n(pinned, N, maxima.begin());
    }
    return maxima;
  }

 private:
  template <int N, class Operation, class Body>
  void sweep_rows(const Execution& space, const char* label, RowPieces rows, std::int64_t columns,
                  const Body& body) const {
    static_assert(N <= most_sums);
    if (rows.count() == 0 || columns == 0) return;
    if constexpr (runs_on_host<Execution>) {
      const RowPointer<double> row_terms = elements_of(row_terms_);
      const std::int64_t first = rows_.begin;
      for (const RowRange& piece : {rows.first, rows.second}) {
        if (piece.empty()) continue;
        Kokkos::parallel_for(label, detail::RowPolicy<Execution>(space, piece.begin, piece.end),
                             [=](const std::int64_t j) {
                               detail::host_row_terms<N, Operation>(body, j, columns, &row_terms[(j - first) * N]);
                             });
      }
    } else {
      const auto& bare = detail::bare(body);
      using Total = typename Operation::Total;
      using Rows = detail::DeviceRows<N, Operation, std::decay_t<decltype(bare)>>;
      Rows{
          bare, rows, columns, {elements_of(row_terms_), reinterpret_cast<Total*>(total_.data()), swept_.data(), rows_}}
          .launch(space, label);
    }
    space.fence();
  }

  RowRange rows_;
  Kokkos::View<double*, DeviceOf<Execution>> row_terms_;
  Kokkos::View<std::int64_t*, DeviceOf<Execution>> swept_;
  Kokkos::View<CompensatedSum*, DeviceOf<Execution>> total_;
  Kokkos::View<CompensatedSum*, PinnedMemory> pinned_total_;
};

}  // namespace steelyard
