#pragma once

#include <cstdint>

#include "core/spaces.hpp"
#include "core/vector_for.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// How a back end sweeps rows: rows that one thread advances together, so that each loaded row serves up to three of
/// them; such blocks per team; columns per team.
template <class Execution>
struct SweepShape {
  static constexpr bool on_host = runs_on_host<Execution>;
  static constexpr int rows_per_block = on_host ? 6 : 4;
  static constexpr int blocks_per_team = on_host ? 8 : 4;
  static constexpr int vector_length = on_host ? 1 : 32;
  static constexpr std::int64_t columns_per_team = on_host ? std::int64_t{1} << 40 : 512;
};

/// Rows of one time level, row-major, as the kernel sees them. `row(0)` is the halo row above the slice.
template <class Scalar>
struct Rows {
  Scalar* data = nullptr;
  std::int64_t pitch = 0;  ///< elements from one row to the next
  KOKKOS_FUNCTION Scalar* row(std::int64_t i) const { return data + i * pitch; }
};

/// Advances rows [first, first + count) of a slice by one time step, in place of the older level:
/// older = 2 (1 - 2 C^2) current - older + C^2 (up + down + left + right).
/// Source: 001, equation 12; 003, equation 2.7. 24 bytes of memory traffic and 7 flops per double point.
template <class Execution, class Scalar>
class LeapFrog {
 public:
  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;
  using Shape = SweepShape<Execution>;

  /// @param mirror_above the row above `first` lies outside the grid (Neumann): the row below stands in for it;
  ///                     only for a range of one row
  /// @param mirror_below likewise below
  LeapFrog(const Problem& problem, Rows<Scalar> older, Rows<const Scalar> current, std::int64_t first,
           std::int64_t count, bool mirror_above, bool mirror_below)
      : older_(older),
        current_(current),
        first_(first),
        end_(first + count),
        columns_(problem.columns),
        up_(mirror_above ? current.pitch : -current.pitch),
        down_(mirror_below ? -current.pitch : current.pitch),
        centre_(static_cast<Scalar>(2.0 * (1.0 - 2.0 * problem.courant * problem.courant))),
        neighbour_(static_cast<Scalar>(problem.courant * problem.courant)),
        sides_move_(problem.boundary == Boundary::neumann) {}

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    const std::int64_t row_teams = divide_up(end_ - first_, Shape::rows_per_block * Shape::blocks_per_team);
    const std::int64_t column_teams = divide_up(columns_, Shape::columns_per_team);
    const auto teams = static_cast<int>(row_teams * column_teams);
    Kokkos::parallel_for(label, Policy(space, teams, Shape::on_host ? 1 : Shape::blocks_per_team, Shape::vector_length),
                         *this);
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t column_teams = divide_up(columns_, Shape::columns_per_team);
    const std::int64_t block = member.league_rank() / column_teams * Shape::blocks_per_team;
    const std::int64_t first_column = member.league_rank() % column_teams * Shape::columns_per_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, Shape::blocks_per_team), [&](const int i) {
      const std::int64_t row = first_ + (block + i) * Shape::rows_per_block;
      if (row + Shape::rows_per_block <= end_) {
        advance<Shape::rows_per_block>(member, row, first_column);
      } else {
        for (std::int64_t single = row; single < end_; ++single) advance<1>(member, single, first_column);
      }
    });
  }

 private:
  KOKKOS_INLINE_FUNCTION static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  KOKKOS_INLINE_FUNCTION static Scalar updated(const Scalar centre, const Scalar neighbour, const Scalar old,
                                               const Scalar here, const Scalar vertical, const Scalar horizontal) {
    return centre * here - old + neighbour * (vertical + horizontal);
  }

  /// `Count` rows from `row` and the columns of one team.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void advance(const Member& member, const std::int64_t row, std::int64_t first_column) const {
    const std::int64_t pitch = current_.pitch;
    const std::int64_t up = up_;
    const std::int64_t down = down_;
    const Scalar* const here = current_.row(row);
    Scalar* const old = older_.row(row);
    const Scalar centre = centre_;
    const Scalar neighbour = neighbour_;
    const std::int64_t begin = first_column > 1 ? first_column : 1;
    const std::int64_t last = first_column + Shape::columns_per_team;
    const std::int64_t end = last < columns_ - 1 ? last : columns_ - 1;
    vector_for(member, begin, end, [=](const std::int64_t j) {
      // All rows are read before any is written: for all that the compiler knows, a store might change what is read
      // next.
      Scalar next[Count];
      for (int k = 0; k < Count; ++k) {
        const Scalar* const u = here + k * pitch + j;
        next[k] = updated(centre, neighbour, old[k * pitch + j], u[0], u[up] + u[down], u[-1] + u[1]);
      }
      for (int k = 0; k < Count; ++k) old[k * pitch + j] = next[k];
    });
    if (sides_move_ && first_column == 0) {
      Kokkos::single(Kokkos::PerThread(member), [&] {
        for (int k = 0; k < Count; ++k) advance_sides(here + k * pitch, old + k * pitch);
      });
    }
  }

  /// The first and the last column, whose missing neighbour is the opposite one.
  KOKKOS_INLINE_FUNCTION void advance_sides(const Scalar* const u, Scalar* const old) const {
    const std::int64_t r = columns_ - 1;
    old[0] = updated(centre_, neighbour_, old[0], u[0], u[up_] + u[down_], u[1] + u[1]);
    old[r] = updated(centre_, neighbour_, old[r], u[r], u[r + up_] + u[r + down_], u[r - 1] + u[r - 1]);
  }

  Rows<Scalar> older_;
  Rows<const Scalar> current_;
  std::int64_t first_;
  std::int64_t end_;
  std::int64_t columns_;
  std::int64_t up_;    ///< offset of the upper neighbour
  std::int64_t down_;  ///< offset of the lower neighbour
  Scalar centre_;
  Scalar neighbour_;
  bool sides_move_;
};

}  // namespace steelyard::wave2d
