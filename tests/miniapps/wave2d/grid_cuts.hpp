#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "partition/rectangles/column.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "tests/partition/random_areas.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::tests {

/// Slices of rows, one below the other: some of one row, some empty.
inline std::vector<partition::Rectangle> random_slices(Random& random, const partition::Extents& extents, int count) {
  std::vector<std::int64_t> cuts{0, extents.rows};
  for (int i = 1; i < count; ++i) cuts.push_back(whole(random, 0, static_cast<int>(extents.rows)));
  std::ranges::sort(cuts);
  std::vector<partition::Rectangle> slices;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::int64_t rows = cuts[i + 1] - cuts[i];
    slices.push_back(rows > 0 ? partition::Rectangle{cuts[i], 0, rows, extents.columns} : partition::Rectangle{});
  }
  return slices;
}

/// Five around a middle, of which no cut from side to side separates any. At least 3 points a side.
inline std::vector<partition::Rectangle> random_pinwheel(Random& random, const partition::Extents& extents) {
  const auto rows = static_cast<int>(extents.rows), columns = static_cast<int>(extents.columns);
  const std::int64_t top = whole(random, 1, rows - 2), bottom = whole(random, 1, rows - 1 - static_cast<int>(top));
  const std::int64_t left = whole(random, 1, columns - 2),
                     right = whole(random, 1, columns - 1 - static_cast<int>(left));
  return {{0, 0, top, columns - right},
          {0, columns - right, rows - bottom, right},
          {rows - bottom, left, bottom, columns - left},
          {top, 0, rows - top, left},
          {top, left, rows - top - bottom, columns - left - right}};
}

/// Rectangles that cover a grid of at least 3 x 3 points: one, slices, columns by areas, cuts in two again and again,
/// or a pinwheel; some of a single row or column, some empty, in any order.
inline std::vector<partition::Rectangle> random_cut(Random& random, const partition::Extents& extents) {
  std::vector<partition::Rectangle> rectangles;
  const int kind = whole(random, 0, 9);
  const int count = whole(random, 2, 8);
  if (kind == 0) {
    rectangles = {{0, 0, extents.rows, extents.columns}};
  } else if (kind <= 2) {
    rectangles = random_slices(random, extents, count);
  } else if (kind <= 4) {
    rectangles = partition::column(random_areas(random, count), extents).rectangles;
  } else if (kind <= 7) {
    cut_at_random(random, {0, 0, extents.rows, extents.columns}, count, rectangles);
  } else {
    rectangles = random_pinwheel(random, extents);
  }
  if (whole(random, 0, 2) == 0) rectangles.emplace_back();
  std::ranges::shuffle(rectangles, random);
  return rectangles;
}

}  // namespace steelyard::tests
