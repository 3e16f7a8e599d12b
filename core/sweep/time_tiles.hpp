#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/device/device.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"
#include "core/sweep/vector_for.hpp"

namespace steelyard {

/// How a back end cuts rows and columns of points into tiles, one for a team, which goes down its rows with several
/// steps of a stencil one behind the other. The steps in between live in a ring of rows in scratch memory: two levels.
template <class Execution>
struct TimeTiles {
  static constexpr bool on_host = runs_on_host<Execution>;
  /// Rows that one thread advances together, so that each loaded row serves several of them.
  static constexpr int rows_per_thread = on_host ? 4 : 2;
  static constexpr int team_size = on_host ? 1 : 4;
  static constexpr int vector_length = on_host ? 1 : 32;
  /// Columns that a vector lane of a device advances together.
  static constexpr int columns_per_lane = on_host ? 1 : 2;
  /// Scratch memory: cache on a host, the device's shared memory.
  static constexpr int scratch_level = on_host ? 1 : 0;
  /// Rows that a team advances together.
  static constexpr int rows_per_front = rows_per_thread * team_size;
  /// A device keeps four teams at work on each of its processors, so that one computes while another waits for memory.
  using Policy = Kokkos::TeamPolicy<Execution, Kokkos::LaunchBounds<team_size * vector_length, 4>>;

  std::int64_t rows = 0;     ///< of a tile
  std::int64_t columns = 0;  ///< of a tile
  std::int64_t across = 0;   ///< tiles beside each other
  std::int64_t down = 0;     ///< tiles below each other
  int ring_rows = 0;         ///< of a level
  int ring_pitch = 0;        ///< elements from one row to the next
  int scratch_bytes = 0;     ///< of a team

  /// Cuts a region into tiles of about equal size, at least one for each of the host's `threads` where rows allow.
  static TimeTiles cut(std::int64_t region_rows, std::int64_t region_columns, int steps, int radius,
                       std::size_t scalar_bytes, int threads) {
    TimeTiles tiles;
    tiles.columns = even_part(region_columns, most_columns(steps, radius, scalar_bytes), 8);
    tiles.across = divide_up(region_columns, tiles.columns);
    // Every thread gets as many tiles as the others.
    const std::int64_t unit = threads / std::gcd(std::max<std::int64_t>(1, tiles.across), std::int64_t{threads});
    const std::int64_t some_rows = std::max<std::int64_t>(1, region_rows);
    const std::int64_t parts =
        divide_up(divide_up(some_rows, most_rows(steps, radius, region_rows, threads)), unit) * unit;
    tiles.rows = even_part(region_rows, std::max<std::int64_t>(1, divide_up(some_rows, parts)), rows_per_front);
    tiles.down = divide_up(region_rows, tiles.rows);
    tiles.ring_rows = rows_of_ring(steps, radius);
    tiles.ring_pitch = static_cast<int>(tiles.columns + std::int64_t{2} * radius * (steps - 1));
    tiles.scratch_bytes = static_cast<int>(ring_bytes(tiles.columns, steps, radius, scalar_bytes));
    return tiles;
  }

  /// Points of a row that a team writes: on a host whole rows in a plain sweep; a few steps' rows must fit into the
  /// cache that a core has for itself, and on a device into scratch memory. 0 where no tile does.
  static std::int64_t most_columns(int steps, int radius, std::size_t scalar_bytes) {
    if (on_host) return steps == 1 ? std::int64_t{1} << 40 : 1024;
    if (steps == 1) return 512;
    const std::int64_t most_scratch_bytes = team_scratch_bytes(team_size);
    std::int64_t columns = 128;
    while (columns > 0 && ring_bytes(columns, steps, radius, scalar_bytes) > most_scratch_bytes) columns -= 8;
    return columns;
  }
  /// The most steps up to `most` for which there is a tile.
  static int most_steps(int most, int radius, std::size_t scalar_bytes) {
    while (most_columns(most, radius, scalar_bytes) == 0) --most;
    return most;
  }

 private:
  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
  /// Parts of a length that are about equal, at most `most` and a multiple of `unit`.
  static std::int64_t even_part(std::int64_t length, std::int64_t most, std::int64_t unit) {
    const std::int64_t parts = std::max<std::int64_t>(1, divide_up(length, most));
    return std::max(unit, divide_up(divide_up(length, parts), unit) * unit);
  }
  static int rows_of_ring(int steps, int radius) { return rows_per_front + steps * radius; }
  static std::int64_t ring_bytes(std::int64_t columns, int steps, int radius, std::size_t scalar_bytes) {
    return std::int64_t{2} * rows_of_ring(steps, radius) * (columns + std::int64_t{2} * radius * (steps - 1)) *
               static_cast<std::int64_t>(scalar_bytes) +
           64;
  }
  /// Rows that a team writes: few enough to occupy all threads, many beside those that two teams both read or compute.
  static std::int64_t most_rows(int steps, int radius, std::int64_t region_rows, std::int64_t threads) {
    if (steps > 1) return std::int64_t{on_host ? 32 : 16} * steps * radius;
    if (!on_host) return std::int64_t{2} * rows_per_front;
    return std::clamp<std::int64_t>(region_rows / (3 * threads), 48, 256);
  }
};

/// Rows of a grid, in the unit's memory, that a stencil advances together; [j] is column j.
template <class Scalar, int Rows, int Radius>
struct StencilRows {
  RowPointer<const Scalar>
      current[Rows + 2 * Radius];      ///< these rows of the current level, `Radius` above and as many below
  RowPointer<const Scalar> old[Rows];  ///< of the level before
  RowPointer<Scalar> next[Rows];       ///< of the level after, which may take the place of `old`
  RowPointer<Scalar> copy[Rows];       ///< where the current rows go as well; all null where they do not
};

namespace detail {

template <bool Copies, class Member, class Scalar, int Rows, int Radius, class Stencil>
KOKKOS_FORCEINLINE_FUNCTION void sweep_rows(const Member& member, const std::int64_t begin, const std::int64_t end,
                                            const StencilRows<Scalar, Rows, Radius>& set, const Stencil& formula) {
  // Copies on the stack: pointers that the stores cannot change.
  const Stencil stencil = formula;
  const StencilRows<Scalar, Rows, Radius> rows = set;
  using Tiles = TimeTiles<typename Member::execution_space>;
  constexpr int lanes = Tiles::vector_length;
  vector_for_several<Tiles::columns_per_lane, lanes>(member, begin, end, [=](const std::int64_t j, const auto several) {
    constexpr int count = decltype(several)::value;
    Scalar next[Rows][count];
    Scalar here[Rows][count];
    for (int r = 0; r < Rows; ++r) {
      const RowPointer<const Scalar>* const u = rows.current + r + Radius;
      for (int c = 0; c < count; ++c) {
        const std::int64_t i = j + std::int64_t{lanes} * c;
        here[r][c] = u[0][i];
        next[r][c] = stencil.next(
            rows.old[r][i], here[r][c], [&](int d) { return u[d][i]; }, [&](int d) { return u[0][i + d]; });
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int c = 0; c < count; ++c) {
        const std::int64_t i = j + std::int64_t{lanes} * c;
        rows.next[r][i] = next[r][c];
        if (Copies) rows.copy[r][i] = here[r][c];
      }
    }
  });
}

}  // namespace detail

/// next_r(j) = stencil.next(old_r(j), current_r(j), at, beside) for each row r and column j in [begin, end), all of
/// which have their neighbours: at(d) is the value `d` rows below, beside(d) that `d` columns to the right. Does not
/// fence. Inlined for certain, so that a host's compiler keeps the pointers apart from what is stored.
template <class Member, class Scalar, int Rows, int Radius, class Stencil>
KOKKOS_FORCEINLINE_FUNCTION void sweep_stencil_rows(const Member& member, const std::int64_t begin,
                                                    const std::int64_t end,
                                                    const StencilRows<Scalar, Rows, Radius>& rows,
                                                    const Stencil& stencil) {
  if (rows.copy[0] != nullptr) {
    detail::sweep_rows<true>(member, begin, end, rows, stencil);
  } else {
    detail::sweep_rows<false>(member, begin, end, rows, stencil);
  }
}

}  // namespace steelyard
