#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/memory/home.hpp"
#include "core/memory/matrix_copy.hpp"
#include "core/memory/padded_pitch.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::wave2d {

/// First touch of rows [0, rows) of memory, each by the threads that will sweep it.
template <class Scalar>
struct Zero {
  RowPointer<Scalar> data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = Scalar(0); }
};

/// The rectangle of the grid that one processing unit owns, which may be empty, in its own memory, with the points that
/// it reads around it: two time levels for passes of one step, which are made in place, and two more for longer ones.
/// Rectangles are counted in the grid. Everything runs on the thread that calls; functions say whether they fence.
template <class Execution, class Scalar>
class LocalField {
 public:
  /// Allocates and touches with the unit's own threads; fences.
  /// @param steps the most that a pass makes
  /// @throws InvalidArgument for more steps than a device's scratch memory holds
  LocalField(const Execution& space, const Problem& problem, const partition::Rectangle& owned, int steps)
      : space_(space), problem_(problem), owned_(owned) {
    if (!owned.empty() && TimeTiles<Execution>::most_columns(steps, problem.radius(), sizeof(Scalar)) == 0) {
      throw InvalidArgument(
          fmt::format("passes of {} steps on a device (expected fewer: its teams' scratch memory holds no tile of so "
                      "many)",
                      steps));
    }
    held_ = widened(problem, owned, halo_depth(problem, steps).current);
    pitch_ = padded_pitch<Scalar>(held_.columns);
    const std::int64_t elements = staggered(held_.rows * pitch_);
    const std::int64_t levels = steps > 1 ? 4 : 2;
    memory_ = {space, "steelyard::wave2d::field", static_cast<std::size_t>(levels * elements)};
    for (std::int64_t i = 0; i < levels; ++i) {
      levels_[static_cast<std::size_t>(i)] = memory_.data() + i * elements;
      touch(levels_[static_cast<std::size_t>(i)]);
    }
    space_.fence();
  }

  const partition::Rectangle& owned() const { return owned_; }
  /// The points that are owned, and those that passes read around them.
  const partition::Rectangle& held() const { return held_; }

  /// Copies a part of held() from where it lies without gaps into a level; on `queue`, does not fence.
  void load(const Execution& queue, Level level, const partition::Rectangle& part, const Scalar* from,
            Home home = Home::host) {
    const auto own = matrix(read_level(level), part);
    if (home == Home::host) {
      copy_matrix_from_host<Execution, Scalar>(queue, own, dense_matrix<HostExecution>(from, part));
    } else {
      copy_matrix_within<Execution, Scalar>(queue, own, dense_matrix<Execution>(from, part));
    }
  }
  /// The other way.
  void store(const Execution& queue, Level level, const partition::Rectangle& part, Scalar* to,
             Home home = Home::host) const {
    store_level(queue, read_level(level), part, to, home);
  }
  /// Like store(), of a level as it will be after rotate(): of a part that advance() has computed.
  void store_next(const Execution& queue, Level level, const partition::Rectangle& part, Scalar* to, int steps,
                  Home home = Home::host) const {
    store_level(queue, written_level(level, steps), part, to, home);
  }

  /// Advances a part of owned() by `steps`, at most as many as at construction; does not fence. Every point is
  /// advanced once before rotate().
  void advance(const partition::Rectangle& part, int steps, const char* label) const {
    if (part.empty()) return;
    Levels<Scalar> levels{rows(read_level(Level::previous)), rows(read_level(Level::current)), nullptr,
                          rows(written_level(Level::current, steps)), pitch_};
    if (steps > 1) levels.next_previous = rows(written_level(Level::previous, steps));
    const Region grid = here({0, 0, problem_.rows, problem_.columns});
    if (problem_.radius() == 1) {
      LeapFrog<Execution, Scalar, 1>(problem_, levels, here(part), grid, steps, threads()).launch(space_, label);
    } else {
      LeapFrog<Execution, Scalar, 2>(problem_, levels, here(part), grid, steps, threads()).launch(space_, label);
    }
  }

  /// Ends a pass: the levels that were written become those that are read.
  void rotate(int steps) {
    if (steps == 1) {
      std::swap(levels_[0], levels_[1]);
    } else {
      std::swap(levels_[0], levels_[2]);
      std::swap(levels_[1], levels_[3]);
    }
  }

 private:
  int threads() const { return runs_on_host<Execution> ? static_cast<int>(space_.concurrency()) : 1; }

  /// Elements from one level to the next: half a page off, for a store delays later loads at the same place of another
  /// page, and the kernel reads in one level just where it writes in another.
  static std::int64_t staggered(std::int64_t elements) {
    constexpr std::int64_t page = 4096 / sizeof(Scalar);
    return (elements + page - 1) / page * page + page / 2;
  }

  void touch(Scalar* level) const {
    using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("steelyard::wave2d::touch", Policy(space_, 0, held_.rows * pitch_), Zero<Scalar>{rows(level)});
  }

  RowPointer<Scalar> rows(Scalar* level) const { return row_pointer(level, 0, held_.rows * pitch_); }
  Scalar* read_level(Level level) const { return levels_[static_cast<std::size_t>(level)]; }
  Scalar* written_level(Level level, int steps) const {
    // A single step is made in place of the previous level; the current one is previous then.
    if (steps == 1) return levels_[level == Level::current ? 0 : 1];
    return levels_[level == Level::current ? 3 : 2];
  }

  /// Where a rectangle of the grid is, or would be, in this memory.
  Region here(const partition::Rectangle& part) const {
    return {part.row - held_.row, part.end_row() - held_.row, part.column - held_.column,
            part.end_column() - held_.column};
  }

  Matrix<Execution, Scalar> matrix(Scalar* level, const partition::Rectangle& part) const {
    return matrix_at<Execution>(level + (part.row - held_.row) * pitch_ + part.column - held_.column, part.rows,
                                part.columns, pitch_);
  }
  void store_level(const Execution& queue, Scalar* level, const partition::Rectangle& part, Scalar* to,
                   Home home) const {
    if (home == Home::host) {
      copy_matrix_to_host<Execution, Scalar>(queue, dense_matrix<HostExecution>(to, part), matrix(level, part));
    } else {
      copy_matrix_within<Execution, Scalar>(queue, dense_matrix<Execution>(to, part), matrix(level, part));
    }
  }
  template <class Space, class Element>
  static Matrix<Space, Element> dense_matrix(Element* elements, const partition::Rectangle& part) {
    return matrix_at<Space>(elements, part.rows, part.columns, part.columns);
  }

  Execution space_;
  Problem problem_;
  partition::Rectangle owned_;
  partition::Rectangle held_;
  std::int64_t pitch_ = 0;
  UntouchedArray<Scalar, typename Execution::memory_space> memory_;  ///< all levels
  std::array<Scalar*, 4> levels_{};  ///< previous and current; of longer passes also those that are written
};

}  // namespace steelyard::wave2d
