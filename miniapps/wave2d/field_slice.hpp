#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/host_copy.hpp"
#include "core/spaces.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "partition/slices.hpp"

namespace steelyard::wave2d {

/// Which of the two time levels that the scheme needs.
enum class Level { previous = 0, current = 1 };

/// First touch of a level's memory.
template <class Scalar>
struct Zero {
  Scalar* data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = Scalar(0); }
};

/// The rows of the grid that one processing unit owns, at two time levels in its own memory, with a halo row above and
/// below, and pinned host buffers for what crosses to its neighbours. Everything runs on the thread that calls;
/// functions say whether they fence.
template <class Execution, class Scalar>
class FieldSlice {
 public:
  enum Side { above = 0, below = 1 };

  /// Allocates and touches both levels with the unit's own threads; fences.
  FieldSlice(const Execution& space, const Problem& problem, const partition::Slice& slice)
      : space_(space), problem_(problem), slice_(slice), pitch_(padded(problem.columns)) {
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    const std::int64_t elements = staggered((slice.count + 2) * pitch_);
    field_ = Field(view_alloc(space, WithoutInitializing, "steelyard::wave2d::field"),
                   static_cast<std::size_t>(2 * elements));
    levels_ = {field_.data(), field_.data() + elements};
    touch();
    const auto columns = static_cast<std::size_t>(problem.columns);
    for (const Side side : {above, below}) {
      halo_[side] = Buffer(view_alloc(WithoutInitializing, "steelyard::wave2d::halo"), columns);
      for (Buffer& buffer : border_[side]) {
        buffer = Buffer(view_alloc(WithoutInitializing, "steelyard::wave2d::border"), columns);
      }
    }
    space_.fence();
  }

  const partition::Slice& slice() const { return slice_; }
  bool has_neighbour(Side side) const { return (side == above ? slice_.above : slice_.below) >= 0; }

  /// Host buffers: where the border row of steps of this parity is packed, and where a neighbour's border arrives.
  Scalar* border(Side side, int parity) const { return border_[side][parity].data(); }
  Scalar* halo(Side side) const { return halo_[side].data(); }

  /// Copies global row `row`, from slice().first - 1 to slice().end(), in or out of a level; fences.
  void load_row(Level level, std::int64_t row, const Scalar* host) {
    copy_from_host(space_, level_row(level, row), host, static_cast<std::size_t>(problem_.columns));
    space_.fence();
  }
  void store_row(Level level, std::int64_t row, Scalar* host) const {
    copy_to_host(space_, host, const_cast<const Scalar*>(level_row(level, row)),
                 static_cast<std::size_t>(problem_.columns));
    space_.fence();
  }

  /// Puts a neighbour's border, in host memory, into the current level's halo row; does not fence.
  void take_halo(Side side, const Scalar* host) {
    const std::int64_t row = side == above ? slice_.first - 1 : slice_.end();
    copy_from_host(space_, level_row(Level::current, row), host, static_cast<std::size_t>(problem_.columns));
  }

  /// Advances the rows next to neighbours and packs them for this parity; fences.
  void advance_borders(int parity) {
    if (has_neighbour(above)) advance(slice_.first, slice_.first + 1, "steelyard::wave2d::border");
    if (has_neighbour(below) && !(has_neighbour(above) && slice_.count == 1)) {
      advance(slice_.end() - 1, slice_.end(), "steelyard::wave2d::border");
    }
    const auto columns = static_cast<std::size_t>(problem_.columns);
    // The advanced row lies in the level that will be current after rotate().
    for (const Side side : {above, below}) {
      if (!has_neighbour(side)) continue;
      const std::int64_t row = side == above ? slice_.first : slice_.end() - 1;
      copy_to_host(space_, border(side, parity), const_cast<const Scalar*>(level_row(Level::previous, row)), columns);
    }
    space_.fence();
  }

  /// Advances all other rows; fences.
  void advance_interior() {
    advance(slice_.first + (has_neighbour(above) ? 1 : 0), slice_.end() - (has_neighbour(below) ? 1 : 0),
            "steelyard::wave2d::interior");
    space_.fence();
  }

  /// Ends a step: what was advanced becomes current.
  void rotate() { std::swap(levels_[0], levels_[1]); }

 private:
  using Field = Kokkos::View<Scalar*, DeviceOf<Execution>>;
  using Buffer = Kokkos::View<Scalar*, PinnedMemory>;

  /// Rows start on cache lines, but not all at the same place of the cache's sets, where neighbouring rows would evict
  /// each other.
  static std::int64_t padded(std::int64_t columns) {
    constexpr std::int64_t line = 64 / sizeof(Scalar);
    const std::int64_t pitch = (columns + line - 1) / line * line;
    return pitch % (16 * line) == 0 ? pitch + line : pitch;
  }

  /// Elements from one level to the other: half a page off, for a store delays later loads at the same place of another
  /// page, and the kernel reads in one level just where it writes in the other.
  static std::int64_t staggered(std::int64_t elements) {
    constexpr std::int64_t page = 4096 / sizeof(Scalar);
    return (elements + page - 1) / page * page + page / 2;
  }

  /// Each level by the threads that will sweep it.
  void touch() const {
    using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
    for (Scalar* const level : levels_) {
      Kokkos::parallel_for("steelyard::wave2d::touch", Policy(space_, 0, (slice_.count + 2) * pitch_),
                           Zero<Scalar>{level});
    }
  }

  Scalar* level_row(Level level, std::int64_t row) const {
    return levels_[static_cast<std::size_t>(level)] + (row - slice_.first + 1) * pitch_;
  }

  /// Advances global rows [begin, end); rows on the grid's edge apart, for the boundary decides about them.
  void advance(std::int64_t begin, std::int64_t end, const char* label) const {
    const bool mirrored = problem_.boundary == Boundary::neumann;
    if (begin == 0 && begin < end) {
      if (mirrored) launch(0, 1, true, false, label);
      begin = 1;
    }
    if (end == problem_.rows && begin < end) {
      --end;
      if (mirrored) launch(end, end + 1, false, true, label);
    }
    if (begin < end) launch(begin, end, false, false, label);
  }

  void launch(std::int64_t begin, std::int64_t end, bool mirror_above, bool mirror_below, const char* label) const {
    const Rows<Scalar> older{levels_[static_cast<std::size_t>(Level::previous)], pitch_};
    const Rows<const Scalar> current{levels_[static_cast<std::size_t>(Level::current)], pitch_};
    LeapFrog<Execution, Scalar>(problem_, older, current, begin - slice_.first + 1, end - begin, mirror_above,
                                mirror_below)
        .launch(space_, label);
  }

  Execution space_;
  Problem problem_;
  partition::Slice slice_;
  std::int64_t pitch_;
  Field field_;                                  ///< both levels
  std::array<Scalar*, 2> levels_{};              ///< halo row above the slice, by Level
  std::array<std::array<Buffer, 2>, 2> border_;  ///< by side and parity of the step
  std::array<Buffer, 2> halo_;                   ///< by side
};

}  // namespace steelyard::wave2d
