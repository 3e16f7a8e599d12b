#pragma once

#include <cstdint>

#include "core/sweep/time_tiles.hpp"
#include "core/sweep/vector_for.hpp"
#include "miniapps/wave2d/problem.hpp"

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
  RowPointer<Scalar> previous = nullptr;       ///< n - 1, read
  RowPointer<Scalar> current = nullptr;        ///< n, read
  RowPointer<Scalar> next_previous = nullptr;  ///< n + k - 1, written; not for a single step, which has it in `current`
  RowPointer<Scalar> next = nullptr;           ///< n + k, written; a single step may write into `previous`
  std::int64_t pitch = 0;                      ///< elements from one row to the next
};

/// Rows [row, end_row) of columns [column, end_column), counted in a unit's memory.
struct Region {
  std::int64_t row = 0;
  std::int64_t end_row = 0;
  std::int64_t column = 0;
  std::int64_t end_column = 0;

  KOKKOS_FUNCTION bool empty() const { return row >= end_row || column >= end_column; }
};

/// A value of a row or a column, line(first) to line(end - 1), and beyond: there the wave is mirrored about the
/// outermost point, as it is (`mirrored`, Neumann) or with the opposite sign about that point's value (Dirichlet).
template <class Scalar, class Line>
KOKKOS_INLINE_FUNCTION Scalar beyond_edges(const bool mirrored, const std::int64_t at, const std::int64_t first,
                                           const std::int64_t end, const Line& line) {
  if (at >= first && at < end) return line(at);
  const std::int64_t edge = at < first ? first : end - 1;
  const Scalar inside = line(2 * edge - at);
  return mirrored ? inside : 2 * line(edge) - inside;
}

/// Step of the point (i, j) of a grid, which may lie on its edge or next to it; a Dirichlet boundary keeps its values.
/// @param column(k), row(k) the points of row k in its column, and of column k in its row
template <class Scalar, int Radius, class Column, class Row>
KOKKOS_FORCEINLINE_FUNCTION Scalar next_near_edge(const Stencil<Scalar, Radius>& stencil, const bool mirrored,
                                                  const Region& grid, const std::int64_t i, const std::int64_t j,
                                                  const Scalar old, const Column& column, const Row& row) {
  const Scalar here = row(j);
  const bool edge = i == grid.row || i == grid.end_row - 1 || j == grid.column || j == grid.end_column - 1;
  if (edge && !mirrored) return here;
  const auto at = [&](int d) { return beyond_edges<Scalar>(mirrored, i + d, grid.row, grid.end_row, column); };
  const auto beside = [&](int d) { return beyond_edges<Scalar>(mirrored, j + d, grid.column, grid.end_column, row); };
  return stencil.next(old, here, at, beside);
}

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
  using Tiles = TimeTiles<Execution>;
  using Policy = typename Tiles::Policy;
  using Member = typename Policy::member_type;

  /// @param region to be written
  /// @param grid where the grid's points are or would be in this memory; beyond them the boundary decides
  /// @param threads of a host that share out the tiles
  LeapFrog(const Problem& problem, const Levels<Scalar>& levels, const Region& region, const Region& grid, int steps,
           int threads = 1)
      : stencil_(problem.courant),
        levels_(levels),
        region_(region),
        grid_(grid),
        mirrored_(problem.boundary == Boundary::neumann),
        steps_(steps),
        tiles_(Tiles::cut(region.end_row - region.row, region.end_column - region.column, steps, Radius, sizeof(Scalar),
                          threads)) {}

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    if (region_.empty()) return;
    Policy policy(space, static_cast<int>(tiles_.across * tiles_.down), Tiles::team_size, Tiles::vector_length);
    if (steps_ > 1) policy.set_scratch_size(Tiles::scratch_level, Kokkos::PerTeam(tiles_.scratch_bytes));
    Kokkos::parallel_for(label, policy, *this);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Tile tile;
    tile.write.row = region_.row + member.league_rank() / tiles_.across * tiles_.rows;
    tile.write.end_row = Kokkos::min(tile.write.row + tiles_.rows, region_.end_row);
    tile.write.column = region_.column + member.league_rank() % tiles_.across * tiles_.columns;
    tile.write.end_column = Kokkos::min(tile.write.column + tiles_.columns, region_.end_column);
    tile.ring_column = tile.write.column - Radius * (steps_ - 1);
    if (steps_ > 1) {
      // By value: a device has no address of a host's constant.
      constexpr int level = Tiles::scratch_level;
      auto* const ring = static_cast<Scalar*>(member.team_scratch(level).get_shmem(tiles_.scratch_bytes));
      tile.ring = row_pointer(ring, 0, std::int64_t{2} * tiles_.ring_rows * tiles_.ring_pitch);
    }
    const std::int64_t last_lag = std::int64_t{Radius} * (steps_ - 1);
    const std::int64_t begin = extent(tile, 1).row;
    for (std::int64_t front = begin; front < tile.write.end_row + last_lag; front += Tiles::rows_per_front) {
      for (int step = 1; step <= steps_; ++step) {
        Region rows = extent(tile, step);
        const std::int64_t first = front - std::int64_t{Radius} * (step - 1);
        rows.row = Kokkos::max(rows.row, first);
        rows.end_row = Kokkos::min(rows.end_row, first + Tiles::rows_per_front);
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
    RowPointer<Scalar> ring = nullptr;
    std::int64_t ring_column = 0;  ///< column at the start of the ring's rows
  };
  template <int Count>
  using Rows = StencilRows<Scalar, Count, Radius>;

  /// The points that a step of a tile covers, inside the grid.
  KOKKOS_INLINE_FUNCTION Region extent(const Tile& tile, int step) const {
    const std::int64_t ghost = std::int64_t{Radius} * (steps_ - step);
    return {Kokkos::max(tile.write.row - ghost, grid_.row), Kokkos::min(tile.write.end_row + ghost, grid_.end_row),
            Kokkos::max(tile.write.column - ghost, grid_.column),
            Kokkos::min(tile.write.end_column + ghost, grid_.end_column)};
  }

  /// Row i's place in the ring. 32 bits, for divisions take long.
  KOKKOS_INLINE_FUNCTION int ring_place(std::int64_t i) const {
    return static_cast<int>(static_cast<unsigned>(i) % static_cast<unsigned>(tiles_.ring_rows));
  }
  /// Row i of a time level, such that [j] is column j: level -1 and 0 are read, `steps_` is written.
  /// @param place ring_place(i) or less or more by ring_rows
  KOKKOS_INLINE_FUNCTION RowPointer<Scalar> row(const Tile& tile, int level, std::int64_t i, int place) const {
    if (level == steps_) return row(levels_.next, i);
    if (level <= 0) return row(level == 0 ? levels_.current : levels_.previous, i);
    if (place < 0) place += tiles_.ring_rows;
    if (place >= tiles_.ring_rows) place -= tiles_.ring_rows;
    place += (level & 1) * tiles_.ring_rows;
    return part_of_row(tile.ring, static_cast<std::int64_t>(place) * tiles_.ring_pitch - tile.ring_column,
                       tile.ring_column, tile.ring_column + tiles_.ring_pitch);
  }
  KOKKOS_INLINE_FUNCTION RowPointer<Scalar> row(const RowPointer<Scalar>& level, std::int64_t i) const {
    return part_of_row(level, i * levels_.pitch, 0, levels_.pitch);
  }

  /// Whether rows have all their neighbours.
  KOKKOS_INLINE_FUNCTION bool inside(const std::int64_t i, const int count) const {
    return i >= grid_.row + Radius && i + count <= grid_.end_row - Radius;
  }

  /// At most rows_per_front rows of a step: each thread some of them.
  KOKKOS_INLINE_FUNCTION void advance_front(const Member& member, const Tile& tile, const int step,
                                            const Region& rows) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, Tiles::team_size), [&](const int thread) {
      constexpr int count = Tiles::rows_per_thread;
      const std::int64_t begin = rows.row + std::int64_t{count} * thread;
      const std::int64_t end = Kokkos::min(begin + count, rows.end_row);
      if (begin + count == end && inside(begin, count)) {
        advance_rows<count>(member, tile, step, begin, rows);
      } else {
        for (std::int64_t i = begin; i < end; ++i) advance_rows<1>(member, tile, step, i, rows);
      }
    });
  }

  /// The points of rows i to i + Count - 1 in the columns of a range: in vectors those that have all their neighbours.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void advance_rows(const Member& member, const Tile& tile, const int step, const std::int64_t i,
                                           const Region& range) const {
    std::int64_t left = range.end_column, right = range.end_column;
    const Rows<Count> rows = rows_around<Count>(tile, step, i);
    if (inside(i, Count)) {
      left = Kokkos::min(Kokkos::max(range.column, grid_.column + Radius), range.end_column);
      right = Kokkos::max(left, Kokkos::min(range.end_column, grid_.end_column - Radius));
      sweep_stencil_rows(member, left, right, rows, stencil_);
    }
    if (left == range.column && right == range.end_column) return;
    for (int r = 0; r < Count; ++r) {
      const auto advance = [&](const std::int64_t j) { advance_point(tile, step, rows, r, i + r, j); };
      vector_for(member, range.column, left, advance);
      vector_for(member, right, range.end_column, advance);
    }
  }

  template <int Count>
  KOKKOS_INLINE_FUNCTION Rows<Count> rows_around(const Tile& tile, int step, std::int64_t i) const {
    Rows<Count> rows;
    const int place = ring_place(i);
    for (int r = 0; r < Count + 2 * Radius; ++r) {
      std::int64_t at = i - Radius + r;
      // A single row may lie at the grid's edge; nothing is read beyond that.
      if (Count == 1) at = Kokkos::min(Kokkos::max(at, grid_.row), grid_.end_row - 1);
      rows.current[r] = row(tile, step - 1, at, place + static_cast<int>(at - i));
    }
    const bool copies = step == steps_ && steps_ > 1;
    for (int r = 0; r < Count; ++r) {
      rows.old[r] = row(tile, step - 2, i + r, place + r);
      rows.next[r] = row(tile, step, i + r, place + r);
      rows.copy[r] = nullptr;
      if (copies) rows.copy[r] = row(levels_.next_previous, i + r);
    }
    return rows;
  }

  /// The point (i, j) of row r of a set, which may lie on the grid's edge or next to it. Rows of the set are named by
  /// constants alone: for an index a device would keep their pointers in memory.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void advance_point(const Tile& tile, const int step, const Rows<Count>& rows, const int r,
                                            const std::int64_t i, const std::int64_t j) const {
    const RowPointer<const Scalar> u = rows.current[r + Radius];
    const auto in_column = [&](std::int64_t k) { return row(tile, step - 1, k, ring_place(k))[j]; };
    const auto in_row = [&](std::int64_t k) { return u[k]; };
    const Scalar here = u[j];
    rows.next[r][j] = next_near_edge(stencil_, mirrored_, grid_, i, j, rows.old[r][j], in_column, in_row);
    if (rows.copy[r] != nullptr) rows.copy[r][j] = here;
  }

  Stencil<Scalar, Radius> stencil_;
  Levels<Scalar> levels_;
  Region region_;
  Region grid_;
  bool mirrored_;
  int steps_;
  Tiles tiles_;
};

}  // namespace steelyard::wave2d
