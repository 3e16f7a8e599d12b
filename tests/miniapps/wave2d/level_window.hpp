#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/spaces.hpp"
#include "miniapps/wave2d/leap_frog.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests {

/// Whether two fields are the same to the last bit; a NaN is the same as itself.
template <class Scalar>
bool same_bits(const Grid<Scalar>& a, const Grid<Scalar>& b) {
  using Bits = std::conditional_t<sizeof(Scalar) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  return a.rows == b.rows && a.columns == b.columns &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](Scalar x, Scalar y) { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y); });
}

inline std::string described(const wave2d::Problem& problem) {
  return std::to_string(problem.rows) + " x " + std::to_string(problem.columns) + " points, order " +
         std::to_string(problem.order) + (problem.boundary == wave2d::Boundary::neumann ? ", Neumann" : ", Dirichlet");
}
inline std::string described(const wave2d::Region& region) {
  return "rows " + std::to_string(region.row) + " to " + std::to_string(region.end_row) + ", columns " +
         std::to_string(region.column) + " to " + std::to_string(region.end_column);
}

/// All points of a problem's grid.
inline wave2d::Region whole(const wave2d::Problem& problem) { return {0, problem.rows, 0, problem.columns}; }

/// The part of a region that lies in another.
inline wave2d::Region common_part(const wave2d::Region& a, const wave2d::Region& b) {
  return {std::max(a.row, b.row), std::min(a.end_row, b.end_row), std::max(a.column, b.column),
          std::min(a.end_column, b.end_column)};
}

/// A region and `width` more rows and columns on each of its sides.
inline wave2d::Region widened(const wave2d::Region& region, std::int64_t width) {
  return {region.row - width, region.end_row + width, region.column - width, region.end_column + width};
}

/// A window of a grid's fields in a unit's own memory. Regions are counted in the grid; the window may reach beyond it.
/// What was not given and could be read is NaN.
template <class Execution, class Scalar>
class LevelWindow {
 public:
  using Space = Execution;
  using Element = Scalar;
  using Region = wave2d::Region;

  LevelWindow(const wave2d::Problem& problem, const Region& window)
      : problem_(problem),
        window_(window),
        previous_(rows(), columns(), unread),
        current_(rows(), columns(), unread),
        next_previous_(rows(), columns(), unwritten),
        next_(rows(), columns(), unwritten) {}

  /// Puts a part of the grid's field n - 1, and of field n, into the window.
  void give_previous(const Grid<Scalar>& field, const Region& part) { previous_.give(with(previous_, field, part)); }
  void give_current(const Grid<Scalar>& field, const Region& part) { current_.give(with(current_, field, part)); }

  /// Advances a region, cut up for a number of threads; a single step in place, unless told otherwise. Returns when it
  /// is done.
  void advance(const Region& region, int steps, int threads = 1, bool in_place = true) {
    in_place_ = steps == 1 && in_place;
    threads_ = threads;
    steps_ = steps;
    if (problem_.order == 2) {
      launch<1>(region);
    } else {
      launch<2>(region);
    }
  }

  /// Whether these regions hold field n + k, field n + k - 1 too where k > 1, and all else is as it was.
  bool holds(const Grid<Scalar>& before_last, const Grid<Scalar>& last, const std::vector<Region>& regions) const {
    Grid<Scalar> previous = previous_.given, next_previous = next_previous_.given, next = next_.given;
    for (const Region& region : regions) {
      put(in_place_ ? previous : next, last, region);
      if (steps_ > 1) put(next_previous, before_last, region);
    }
    return same_bits(previous_.read(), previous) && same_bits(current_.read(), current_.given) &&
           same_bits(next_previous_.read(), next_previous) && same_bits(next_.read(), next);
  }

  /// What was written is what is read from now on. Returns field n + k in the whole window.
  const Grid<Scalar>& rotate() {
    if (!in_place_) std::swap(previous_, next_);
    if (steps_ == 1) {
      std::swap(previous_, current_);
    } else {
      std::swap(current_, previous_);
      std::swap(previous_, next_previous_);
    }
    previous_.given = previous_.read();
    current_.given = current_.read();
    return current_.given;
  }

 private:
  static constexpr Scalar unread = std::numeric_limits<Scalar>::quiet_NaN();
  static constexpr Scalar unwritten = -12345;

  /// A field in the unit's memory, and what it was before the kernel ran.
  struct Level {
    Grid<Scalar> given;
    Kokkos::View<Scalar*, DeviceOf<Execution>> memory;

    Level(std::int64_t rows, std::int64_t columns, Scalar value)
        : given(rows, columns), memory("steelyard::tests::level", given.values.size()) {
      std::fill(given.values.begin(), given.values.end(), value);
      give(given);
    }
    void give(const Grid<Scalar>& field) {
      given = field;
      Kokkos::deep_copy(memory, HostView(given.values.data(), given.values.size()));
    }
    Grid<Scalar> read() const {
      Grid<Scalar> field(given.rows, given.columns);
      Kokkos::deep_copy(HostView(field.values.data(), field.values.size()), memory);
      return field;
    }
  };
  using HostView = Kokkos::View<Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  std::int64_t rows() const { return window_.end_row - window_.row; }
  std::int64_t columns() const { return window_.end_column - window_.column; }
  Region in_memory(const Region& region) const {
    return {region.row - window_.row, region.end_row - window_.row, region.column - window_.column,
            region.end_column - window_.column};
  }
  void put(Grid<Scalar>& level, const Grid<Scalar>& field, const Region& part) const {
    for (std::int64_t i = part.row; i < part.end_row; ++i) {
      for (std::int64_t j = part.column; j < part.end_column; ++j) {
        level(i - window_.row, j - window_.column) = field(i, j);
      }
    }
  }
  Grid<Scalar> with(const Level& level, const Grid<Scalar>& field, const Region& part) const {
    Grid<Scalar> both = level.given;
    put(both, field, part);
    return both;
  }

  template <int Radius>
  void launch(const Region& region) const {
    wave2d::Levels<Scalar> levels{elements_of(previous_.memory), elements_of(current_.memory), nullptr,
                                  elements_of(in_place_ ? previous_.memory : next_.memory), columns()};
    if (steps_ > 1) levels.next_previous = elements_of(next_previous_.memory);
    const Execution space;
    const wave2d::LeapFrog<Execution, Scalar, Radius> kernel(problem_, levels, in_memory(region),
                                                             in_memory(whole(problem_)), steps_, threads_);
    kernel.launch(space, "steelyard::tests::leap_frog");
    space.fence();
  }

  wave2d::Problem problem_;
  Region window_;
  Level previous_, current_, next_previous_, next_;
  int steps_ = 0;
  int threads_ = 1;
  bool in_place_ = false;
};

/// Every kind of unit and element.
using LevelWindows = std::tuple<LevelWindow<HostExecution, double>, LevelWindow<HostExecution, float>,
                                LevelWindow<CompanionExecution, double>, LevelWindow<CompanionExecution, float>>;

/// Whether a unit has the scratch memory for this many steps in one pass; a device may not.
template <class Window>
bool can_take(int steps, const wave2d::Problem& problem) {
  using Tiles = TimeTiles<typename Window::Space>;
  return Tiles::most_columns(steps, problem.order / 2, sizeof(typename Window::Element)) > 0;
}

/// One step of the kernel on the whole grid, again and again in place: element k is the field k steps after `current`.
template <class Window>
std::vector<Grid<typename Window::Element>> single_steps(const wave2d::Problem& problem,
                                                         const Grid<typename Window::Element>& previous,
                                                         const Grid<typename Window::Element>& current, int steps) {
  Window window(problem, whole(problem));
  window.give_previous(previous, whole(problem));
  window.give_current(current, whole(problem));
  std::vector<Grid<typename Window::Element>> levels{current};
  for (int step = 0; step < steps; ++step) {
    window.advance(whole(problem), 1);
    levels.push_back(window.rotate());
  }
  return levels;
}

}  // namespace steelyard::tests
