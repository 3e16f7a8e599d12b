#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/multiply_add.hpp"
#include "core/spaces.hpp"
#include "core/vector_for.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/tile_shape.hpp"

namespace steelyard::wave2d {

/// One point's step: next = 2 u - old + C^2 (D_x u + D_y u), with the second difference of radius 1
///   D u = u(-1) - 2 u + u(1)                                          (second order; 001, equation 12; 003, 2.7)
/// or of radius 2
///   D u = (-u(-2) + 16 u(-1) - 30 u + 16 u(1) - u(2)) / 12            (fourth order)
/// in this order of operations everywhere.
template <class Scalar, int Radius>
class Stencil {
 public:
  static_assert(Radius == 1 || Radius == 2);

  explicit Stencil(double courant) {
    const double c2 = courant * courant;
    centre_ = static_cast<Scalar>(Radius == 1 ? 2.0 - 4.0 * c2 : 2.0 - 5.0 * c2);
    near_ = static_cast<Scalar>(Radius == 1 ? c2 : 4.0 / 3.0 * c2);
    far_ = static_cast<Scalar>(-c2 / 12.0);
  }

  /// @param at(d) the point `d` rows below this one and in its column
  /// @param beside(d) the point `d` columns to the right of this one
  template <class Above, class Beside>
  KOKKOS_FORCEINLINE_FUNCTION Scalar next(const Scalar old, const Scalar here, const Above& at,
                                          const Beside& beside) const {
    const Scalar rest = multiply_add(centre_, here, -old);
    const Scalar sum = multiply_add(near_, (at(-1) + at(1)) + (beside(-1) + beside(1)), rest);
    if constexpr (Radius == 1) return sum;
    return multiply_add(far_, (at(-2) + at(2)) + (beside(-2) + beside(2)), sum);
  }

 private:
  Scalar centre_;
  Scalar near_;
  Scalar far_;
};

/// Time levels in a unit's memory, row-major, row 0 first; all of one pitch.
template <class Scalar>
struct Levels {
  const Scalar* previous = nullptr;  ///< n - 1, read
  const Scalar* current = nullptr;   ///< n, read
  Scalar* next_previous = nullptr;   ///< n + k - 1, written; not for a single step, which has it in `current`
  Scalar* next = nullptr;            ///< n + k, written; a single step may write into `previous`
  std::int64_t pitch = 0;            ///< elements from one row to the next
};

/// Rows [row, end_row) of columns [column, end_column), counted in a unit's memory.
struct Region {
  std::int64_t row = 0;
  std::int64_t end_row = 0;
  std::int64_t column = 0;
  std::int64_t end_column = 0;

  KOKKOS_FUNCTION bool empty() const { return row >= end_row || column >= end_column; }
};

/// Advances the points of a region by k steps in one pass over memory. A team takes a tile and goes down its rows,
/// all steps one behind the other: step t is `Radius` rows behind step t - 1, and widens the tile by Radius (k - t) on
/// each side (ghost zones: computed by several teams, from the same values with the same result). Steps between the
/// first and the last live in a ring of rows in scratch memory. The points read around the region (Radius k rows and
/// columns of `current`, Radius (k - 1) of `previous`, as far as the grid goes) must be there.
/// One step: 24 bytes of memory traffic per double point; k steps: 48 / k (levels are not written in place).
/// Source: 001, equation 12; 003, equation 2.7.
template <class Execution, class Scalar, int Radius>
class LeapFrog {
 public:
  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;
  using Shape = TileShape<Execution>;

  /// @param region to be written
  /// @param grid where the grid's points are or would be in this memory; beyond them the boundary decides
  /// @param threads of a host that share out the tiles; there are as many tiles at least where rows allow
  LeapFrog(const Problem& problem, const Levels<Scalar>& levels, const Region& region, const Region& grid, int steps,
           int threads = 1)
      : stencil_(problem.courant),
        levels_(levels),
        region_(region),
        grid_(grid),
        mirrored_(problem.boundary == Boundary::neumann),
        steps_(steps),
        tile_columns_(even_part(region.end_column - region.column, Shape::columns(steps, Radius, sizeof(Scalar)), 8)),
        column_tiles_(divide_up(region.end_column - region.column, tile_columns_)),
        tile_rows_(rows_per_tile(region.end_row - region.row,
                                 Shape::rows(steps, Radius, region.end_row - region.row, threads), threads)),
        ring_rows_(Shape::ring_rows(steps, Radius)),
        ring_pitch_(static_cast<int>(tile_columns_ + std::int64_t{2} * Radius * (steps - 1))),
        scratch_bytes_(static_cast<int>(Shape::ring_bytes(tile_columns_, steps, Radius, sizeof(Scalar)))) {}

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    if (region_.empty()) return;
    const auto teams = static_cast<int>(column_tiles_ * divide_up(region_.end_row - region_.row, tile_rows_));
    Policy policy(space, teams, Shape::team_size, Shape::vector_length);
    if (steps_ > 1) policy.set_scratch_size(Shape::scratch_level, Kokkos::PerTeam(scratch_bytes_));
    Kokkos::parallel_for(label, policy, *this);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Tile tile;
    tile.write.row = region_.row + member.league_rank() / column_tiles_ * tile_rows_;
    tile.write.end_row = lesser(tile.write.row + tile_rows_, region_.end_row);
    tile.write.column = region_.column + member.league_rank() % column_tiles_ * tile_columns_;
    tile.write.end_column = lesser(tile.write.column + tile_columns_, region_.end_column);
    tile.ring_column = tile.write.column - Radius * (steps_ - 1);
    if (steps_ > 1) {
      // By value: a device has no address of a host's constant.
      constexpr int level = Shape::scratch_level;
      tile.ring = static_cast<Scalar*>(member.team_scratch(level).get_shmem(scratch_bytes_));
    }
    const std::int64_t last_lag = std::int64_t{Radius} * (steps_ - 1);
    const std::int64_t begin = extent(tile, 1).row;
    for (std::int64_t front = begin; front < tile.write.end_row + last_lag; front += Shape::rows_per_front) {
      for (int step = 1; step <= steps_; ++step) {
        Region rows = extent(tile, step);
        const std::int64_t first = front - std::int64_t{Radius} * (step - 1);
        rows.row = greater(rows.row, first);
        rows.end_row = lesser(rows.end_row, first + Shape::rows_per_front);
        if (rows.row >= rows.end_row) continue;
        advance_front(member, tile, step, rows);
        // The next step reads these rows, and the next front overwrites others.
        member.team_barrier();
      }
    }
  }

 private:
  struct Tile {
    Region write;
    Scalar* ring = nullptr;
    std::int64_t ring_column = 0;  ///< column at the start of the ring's rows
  };

  KOKKOS_INLINE_FUNCTION static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
  KOKKOS_INLINE_FUNCTION static std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  KOKKOS_INLINE_FUNCTION static std::int64_t greater(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

  /// Parts of a length that are about equal, at most `most` and a multiple of `unit`.
  static std::int64_t even_part(std::int64_t length, std::int64_t most, std::int64_t unit) {
    const std::int64_t parts = std::max<std::int64_t>(1, divide_up(length, most));
    return std::max(unit, divide_up(divide_up(length, parts), unit) * unit);
  }

  /// Rows of a tile such that every thread gets as many tiles as the others.
  std::int64_t rows_per_tile(std::int64_t rows, std::int64_t most, std::int64_t threads) const {
    const std::int64_t unit = threads / std::gcd(std::max<std::int64_t>(1, column_tiles_), threads);
    const std::int64_t parts = divide_up(divide_up(std::max<std::int64_t>(1, rows), most), unit) * unit;
    return even_part(rows, std::max<std::int64_t>(1, divide_up(rows, parts)), Shape::rows_per_front);
  }

  /// The points that a step of a tile covers, inside the grid.
  KOKKOS_INLINE_FUNCTION Region extent(const Tile& tile, int step) const {
    const std::int64_t ghost = std::int64_t{Radius} * (steps_ - step);
    return {greater(tile.write.row - ghost, grid_.row), lesser(tile.write.end_row + ghost, grid_.end_row),
            greater(tile.write.column - ghost, grid_.column), lesser(tile.write.end_column + ghost, grid_.end_column)};
  }

  /// The row of a time level, such that [j] is column j: level -1 and 0 are read, `steps_` is written.
  KOKKOS_INLINE_FUNCTION Scalar* row(const Tile& tile, int level, std::int64_t i) const {
    if (level == steps_) return levels_.next + i * levels_.pitch;
    // Read only; one type for all of them keeps this simple.
    if (level <= 0) return const_cast<Scalar*>((level == 0 ? levels_.current : levels_.previous) + i * levels_.pitch);
    // 32 bits: a division for every row.
    const unsigned place =
        static_cast<unsigned>(i) % static_cast<unsigned>(ring_rows_) + static_cast<unsigned>((level & 1) * ring_rows_);
    return tile.ring + static_cast<std::int64_t>(place) * ring_pitch_ - tile.ring_column;
  }

  /// At most rows_per_front rows of a step: each thread some of them.
  KOKKOS_INLINE_FUNCTION void advance_front(const Member& member, const Tile& tile, const int step,
                                            const Region& rows) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, Shape::team_size), [&](const int thread) {
      constexpr int count = Shape::rows_per_thread;
      const std::int64_t begin = rows.row + std::int64_t{count} * thread;
      const std::int64_t end = lesser(begin + count, rows.end_row);
      const bool inside = begin >= grid_.row + Radius && begin + count <= grid_.end_row - Radius;
      if (begin + count == end && inside) {
        advance_rows<count>(member, tile, step, begin, rows);
      } else {
        for (std::int64_t i = begin; i < end; ++i) advance_row(member, tile, step, i, rows);
      }
    });
  }

  /// Pointers to `Count` rows of a step, and those around them that it reads.
  template <int Count>
  struct RowSet {
    const Scalar* current[Count + 2 * Radius];
    const Scalar* old[Count];
    Scalar* next[Count];
    Scalar* copy[Count];  ///< where the current rows go as the new previous level; null where they do not
  };

  template <int Count>
  KOKKOS_INLINE_FUNCTION RowSet<Count> row_set(const Tile& tile, int step, std::int64_t i) const {
    RowSet<Count> set;
    for (int r = 0; r < Count + 2 * Radius; ++r) set.current[r] = row(tile, step - 1, i - Radius + r);
    const bool copies = step == steps_ && steps_ > 1;
    for (int r = 0; r < Count; ++r) {
      set.old[r] = row(tile, step - 2, i + r);
      set.next[r] = row(tile, step, i + r);
      set.copy[r] = copies ? levels_.next_previous + (i + r) * levels_.pitch : nullptr;
    }
    return set;
  }

  /// Rows that have all their neighbours.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void advance_rows(const Member& member, const Tile& tile, const int step, const std::int64_t i,
                                           const Region& range) const {
    const RowSet<Count> set = row_set<Count>(tile, step, i);
    if (set.copy[0] != nullptr) {
      sweep<Count, true>(member, set, range);
    } else {
      sweep<Count, false>(member, set, range);
    }
    advance_sides(member, range, [&](const std::int64_t j) {
      for (int r = 0; r < Count; ++r) {
        advance_side(set.current + r + Radius, set.old[r], set.next[r], set.copy[r], j, false, false);
      }
    });
  }

  template <int Count, bool Copies>
  KOKKOS_INLINE_FUNCTION void sweep(const Member& member, const RowSet<Count>& set, const Region& range) const {
    const Stencil<Scalar, Radius> stencil = stencil_;
    const RowSet<Count> rows = set;
    vector_for(member, greater(range.column, grid_.column + Radius),
               lesser(range.end_column, grid_.end_column - Radius), [=](const std::int64_t j) {
                 // All rows are read before any is written: the compiler has to assume that a store changes what is
                 // read next.
                 Scalar next[Count];
                 Scalar here[Count];
                 for (int r = 0; r < Count; ++r) {
                   const Scalar* const* const u = rows.current + r + Radius;
                   here[r] = u[0][j];
                   next[r] = stencil.next(
                       rows.old[r][j], here[r], [&](int d) { return u[d][j]; }, [&](int d) { return u[0][j + d]; });
                 }
                 for (int r = 0; r < Count; ++r) {
                   rows.next[r][j] = next[r];
                   if (Copies) rows.copy[r][j] = here[r];
                 }
               });
  }

  /// A row that may lie on the grid's edge or next to it.
  KOKKOS_INLINE_FUNCTION void advance_row(const Member& member, const Tile& tile, const int step, const std::int64_t i,
                                          const Region& range) const {
    RowSet<1> set;
    const std::int64_t last = grid_.end_row - 1;
    const std::int64_t above = i - grid_.row;
    const std::int64_t below = last - i;
    for (int d = -Radius; d <= Radius; ++d) {
      std::int64_t at = i + d;
      if (above + d < 0) at = 2 * grid_.row - at;
      if (below - d < 0) at = 2 * last - at;
      set.current[Radius + d] = row(tile, step - 1, at);
    }
    set.old[0] = row(tile, step - 2, i);
    set.next[0] = row(tile, step, i);
    set.copy[0] = step == steps_ && steps_ > 1 ? levels_.next_previous + i * levels_.pitch : nullptr;
    const Scalar* const* const u = set.current + Radius;
    if (!mirrored_ && (above == 0 || below == 0)) {
      const Scalar* const held = u[0];
      Scalar* const next = set.next[0];
      Scalar* const copy = set.copy[0];
      vector_for(member, range.column, range.end_column, [=](const std::int64_t j) {
        next[j] = held[j];
        if (copy != nullptr) copy[j] = held[j];
      });
      return;
    }
    // Dirichlet, radius 2, next to the edge: beyond it the wave is mirrored with the opposite sign about the edge.
    const bool odd_above = !mirrored_ && above < Radius;
    const bool odd_below = !mirrored_ && below < Radius;
    if (odd_above || odd_below) {
      const Stencil<Scalar, Radius> stencil = stencil_;
      const RowSet<1> rows = set;
      const int edge = odd_above ? -1 : 1;
      const bool both = odd_above && odd_below;
      vector_for(member, greater(range.column, grid_.column + Radius),
                 lesser(range.end_column, grid_.end_column - Radius), [=](const std::int64_t j) {
                   const Scalar* const* const v = rows.current + Radius;
                   const Scalar here = v[0][j];
                   const auto at = [&](int d) {
                     if ((d == 2 * edge) || (both && d == -2 * edge)) return 2 * v[d / 2][j] - here;
                     return v[d][j];
                   };
                   rows.next[0][j] = stencil.next(rows.old[0][j], here, at, [&](int d) { return v[0][j + d]; });
                   if (rows.copy[0] != nullptr) rows.copy[0][j] = here;
                 });
    } else if (set.copy[0] != nullptr) {
      sweep<1, true>(member, set, range);
    } else {
      sweep<1, false>(member, set, range);
    }
    advance_sides(member, range, [&](const std::int64_t j) {
      advance_side(u, set.old[0], set.next[0], set.copy[0], j, odd_above, odd_below);
    });
  }

  /// Calls `use(j)` for the columns of a range that lack neighbours.
  template <class Use>
  KOKKOS_INLINE_FUNCTION void advance_sides(const Member& member, const Region& range, const Use& use) const {
    const std::int64_t left = grid_.column + Radius;
    const std::int64_t right = greater(left, grid_.end_column - Radius);
    if (range.column >= left && range.end_column <= right) return;
    Kokkos::single(Kokkos::PerThread(member), [&] {
      for (std::int64_t j = range.column; j < lesser(left, range.end_column); ++j) use(j);
      for (std::int64_t j = greater(right, range.column); j < range.end_column; ++j) use(j);
    });
  }

  /// One point on the grid's left or right edge or next to it.
  KOKKOS_INLINE_FUNCTION void advance_side(const Scalar* const* const u, const Scalar* old, Scalar* next, Scalar* copy,
                                           const std::int64_t j, bool odd_above, bool odd_below) const {
    const std::int64_t first = grid_.column;
    const std::int64_t last = grid_.end_column - 1;
    const Scalar here = u[0][j];
    Scalar value = here;
    if (mirrored_ || (j != first && j != last)) {
      const auto at = [&](int d) {
        const bool odd = (odd_above && d == -2) || (odd_below && d == 2);
        return odd ? 2 * u[d / 2][j] - here : u[d][j];
      };
      const auto beside = [&](int d) {
        const std::int64_t other = j + d;
        if (other >= first && other <= last) return u[0][other];
        const std::int64_t edge = other < first ? first : last;
        const Scalar inside = u[0][2 * edge - other];
        return mirrored_ ? inside : 2 * u[0][edge] - inside;
      };
      value = stencil_.next(old[j], here, at, beside);
    }
    next[j] = value;
    if (copy != nullptr) copy[j] = here;
  }

  Stencil<Scalar, Radius> stencil_;
  Levels<Scalar> levels_;
  Region region_;
  Region grid_;
  bool mirrored_;
  int steps_;
  std::int64_t tile_columns_;
  std::int64_t column_tiles_;
  std::int64_t tile_rows_;
  int ring_rows_;
  int ring_pitch_;
  int scratch_bytes_;
};

}  // namespace steelyard::wave2d
