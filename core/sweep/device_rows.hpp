#pragma once

#include <cstdint>

#include "core/spaces.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/sweep_body.hpp"

/// Sums and maxima over rows on a device.
namespace steelyard::detail {

/// Where a device keeps what its rows give, from the unit's first row on.
template <class Total>
struct RowTotals {
  RowPointer<double> of_rows;     ///< N of each row
  Total* total = nullptr;         ///< N of all
  std::int64_t* swept = nullptr;  ///< rows so far; 0 again when the total is there
  RowRange rows;                  ///< of the unit
};

/// A team takes a row, in tiles of a few cells for each of its threads' lanes: all of them evaluate a tile's cells,
/// then lane l of N threads adds up columns l, l + 8, … of it, while the others go on to the next tile. In the end the
/// lanes are added up as HostRowSums does it, so that rows have the same bits on hosts and devices. The team that ends
/// last adds up what all of the unit's rows have.
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

}  // namespace steelyard::detail
