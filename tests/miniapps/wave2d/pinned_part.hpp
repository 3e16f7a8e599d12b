#pragma once

#include <algorithm>
#include <cstdint>

#include "core/spaces.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests {

/// Numbers in pinned host memory, as units take and give them, between others that must stay as they are.
template <class Scalar>
class PinnedPart {
 public:
  explicit PinnedPart(std::int64_t count) : count_(count), view_("part", static_cast<std::size_t>(count + 2 * guard)) {
    for (std::size_t i = 0; i < view_.size(); ++i) view_(i) = untouched;
  }
  /// With the values of a part of a grid, row after row.
  PinnedPart(const Grid<Scalar>& grid, const partition::Rectangle& part) : PinnedPart(part.area()) {
    Scalar* value = data();
    wave2d::for_points(part, [&](std::int64_t i, std::int64_t j) { *value++ = grid(i, j); });
  }

  Scalar* data() const { return view_.data() + guard; }
  std::int64_t count() const { return count_; }
  bool guards_are_untouched() const {
    for (std::int64_t i = 0; i < guard; ++i) {
      if (view_.data()[i] != untouched || data()[count_ + i] != untouched) return false;
    }
    return true;
  }

  /// Into the part of a grid that they are of.
  void put(const partition::Rectangle& part, Grid<Scalar>& grid) const {
    const Scalar* value = data();
    wave2d::for_points(part, [&](std::int64_t i, std::int64_t j) { grid(i, j) = *value++; });
  }

 private:
  static constexpr std::int64_t guard = 16;
  static constexpr Scalar untouched = 12345;

  std::int64_t count_;
  Kokkos::View<Scalar*, PinnedMemory> view_;
};

}  // namespace steelyard::tests
