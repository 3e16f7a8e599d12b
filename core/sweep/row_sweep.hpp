#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/memory/host_copy.hpp"
#include "core/sweep/compensated_sum.hpp"
#include "core/sweep/host_row.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/sweep_body.hpp"

namespace steelyard {

template <int N>
using Sums = std::array<CompensatedSum, static_cast<std::size_t>(N)>;

namespace detail {

/// Rows in chunks, one for each host thread, in which it can follow one sweep with another one a row behind. Chunks
/// have two rows at least, for the ends of each to be different rows.
struct RowChunks {
  RowRange rows;
  std::int64_t count = 1;

  RowChunks(RowRange all, int threads)
      : rows(all), count(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, all.count() / 2))) {}

  RowRange operator[](std::int64_t chunk) const { return {begin(chunk), begin(chunk + 1)}; }
  std::int64_t begin(std::int64_t chunk) const { return rows.begin + rows.count() * chunk / count; }
};

/// Where a device keeps what its rows give, from the unit's first row on.
template <class Total>
struct RowTotals {
  RowPointer<double> of_rows;     ///< N of each row
  Total* total = nullptr;         ///< N of all
  std::int64_t* swept = nullptr;  ///< rows so far; 0 again when the total is there
  RowRange rows;                  ///< of the unit
};

/// A team takes a row, in tiles of a few cells for each of its threads' lanes: all of them evaluate a tile's cells,
/// then lane l of N threads adds up columns l, l + 8, … of it, while the others go on to the next tile. The lanes are
/// added up as HostRowSums does it, for the same bits. The team that ends last adds up all of the unit's rows.
template <int N, class Operation, class Body>
struct DeviceRows {
  using Total = typename Operation::Total;
  static constexpr int lanes = 8;
  static constexpr int most_threads = 16;
  static constexpr int cells_of_lane = N < 3 ? 4 : 2;  ///< evaluated between barriers; scratch memory holds no more

  Body body;
  RowPieces rows;  ///< of this launch
  std::int64_t columns;
  RowTotals<Total> totals;

  /// Memory that a team shares.
  struct Shared {
    double of_cells[2][N][most_threads * lanes * cells_of_lane];  ///< of two tiles in turn
    double of_lanes[N][lanes];
    Total of_threads[most_threads][lanes][N];
    int is_last;
  };

  template <class Execution>
  void launch(const Execution& space, const char* label) const {
    if (rows.count() == 0) return;
    // Short rows take few threads, a tile of the whole row.
    constexpr std::int64_t cells_per_thread = std::int64_t{cells_of_lane} * lanes;
    const std::int64_t threads = (columns + cells_per_thread - 1) / cells_per_thread;
    Kokkos::TeamPolicy<Execution> policy(space, static_cast<int>(rows.count()),
                                         threads < most_threads ? static_cast<int>(threads) : most_threads, lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(sizeof(Shared) + 64)));
    Kokkos::parallel_for(label, policy, *this);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    auto* const shared = static_cast<Shared*>(member.team_scratch(0).get_shmem(static_cast<int>(sizeof(Shared))));
    sum_row(member, rows[member.league_rank()], *shared);
    member.team_barrier();
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      Kokkos::memory_fence();
      const std::int64_t before = Kokkos::atomic_fetch_add(totals.swept, std::int64_t{1});
      shared->is_last = before + 1 == totals.rows.count() ? 1 : 0;
      Kokkos::memory_fence();
    });
    member.team_barrier();
    if (shared->is_last != 0) sum_all(member, *shared);
  }

 private:
  template <class Member>
  KOKKOS_INLINE_FUNCTION void sum_row(const Member& member, const std::int64_t j, Shared& shared) const {
    constexpr int step = lanes, count = N;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int k) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, step),
                           [&](const int lane) { shared.of_lanes[k][lane] = 0.0; });
    });
    int turn = 0;
    add_columns(member, one_component<0>(body), j, shared, turn);
    if constexpr (components_of<Body> == 2) add_columns(member, one_component<1>(body), j, shared, turn);
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int k) {
      Kokkos::single(Kokkos::PerThread(member), [&] {
        auto& own = shared.of_lanes[k];
        for (int half = step / 2; half > 0; half /= 2) {
          for (int lane = 0; lane < half; ++lane) Operation::add(own[lane], own[lane + half]);
        }
        totals.of_rows[(j - totals.rows.begin) * count + k] = own[0];
      });
    });
  }

  template <class Member, class Part>
  KOKKOS_INLINE_FUNCTION void add_columns(const Member& member, const Part& part, const std::int64_t j, Shared& shared,
                                          int& turn) const {
    constexpr int step = lanes, count = N, of_lane = cells_of_lane;
    const int width = member.team_size() * step, tile = of_lane * width;
    for (std::int64_t first = 0; first < columns; first += tile) {
      const int cells = columns - first < tile ? static_cast<int>(columns - first) : tile;
      auto& of_cells = shared.of_cells[turn];
      turn = 1 - turn;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, member.team_size()), [&](const int thread) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, step), [&](const int lane) {
          for (int n = 0; n < of_lane; ++n) {
            const int cell = n * width + thread * step + lane;
            if (cell >= cells) return;
            const Terms<count> own = part(j, Column(first + cell));
            for (int k = 0; k < count; ++k) of_cells[k][cell] = own.of[k];
          }
        });
      });
      // Ends the sums of the tile before as well, whose memory the next one takes.
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int k) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, step), [&](const int lane) {
          double sum = shared.of_lanes[k][lane];
          for (int cell = lane; cell < cells; cell += step) Operation::add(sum, of_cells[k][cell]);
          shared.of_lanes[k][lane] = sum;
        });
      });
    }
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void sum_all(const Member& member, Shared& shared) const {
    constexpr int step = lanes, count = N;
    const int team = member.team_size();
    const std::int64_t all = totals.rows.count();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, team), [&](const int thread) {
      auto& own = shared.of_threads[thread];
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, step), [&](const int lane) {
        for (int k = 0; k < count; ++k) {
          Total total{};
          for (std::int64_t n = std::int64_t{thread} * step + lane; n < all; n += std::int64_t{team} * step) {
            Operation::add(total, totals.of_rows[n * count + k]);
          }
          own[lane][k] = total;
        }
      });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count), [&](const int k) {
        for (int lane = 1; lane < step; ++lane) Operation::add(own[0][k], own[lane][k]);
      });
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), [&](const int k) {
      Kokkos::single(Kokkos::PerThread(member), [&] {
        Total total = shared.of_threads[0][0][k];
        for (int thread = 1; thread < team; ++thread) Operation::add(total, shared.of_threads[thread][0][k]);
        totals.total[k] = total;
        if (k == 0) *totals.swept = 0;
      });
    });
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

/// Calls `body(k, chunk)` for consecutive chunks of some rows, by host thread k of the unit, or by one thread where
/// there are few cells. The caller fences. @param row_cells cells that a row costs
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

/// Sums over a unit's cells: of rows in a fixed order each and then, with compensation, of all of them, so that totals
/// do not depend on who sums up which rows. Sweeps fence; between two totals every row of the unit is swept once.
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

  /// Sums up as sweep() does, after `update(j, i)` for all cells of these rows, in one sweep on the host. The body may
  /// read what updates have written up to a row away; those of the row before the first and of the row behind the last
  /// have been done. Updates read nothing that other cells' updates write, nor what bodies write in other cells.
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

  /// Largest of each of N terms >= 0 over the unit's cells; infinity where one is a NaN. @param body gives Terms<N>
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
