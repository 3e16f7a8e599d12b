#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "miniapps/wave2d/plan.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/partition/random_areas.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::tests {

/// Rectangles that cover a grid of at least 3 x 3 points: one, slices, columns by areas, cuts in two again and again,
/// or a pinwheel, five around a middle of which no cut from side to side separates any; some of a single row or column,
/// some empty, in any order.
inline std::vector<partition::Rectangle> random_cut(Random& random, const wave2d::Problem& problem) {
  const auto rows = static_cast<int>(problem.rows), columns = static_cast<int>(problem.columns);
  const partition::Rectangle all{0, 0, rows, columns};
  std::vector<partition::Rectangle> rectangles;
  const int kind = whole(random, 0, 9);
  const int count = whole(random, 2, 8);
  if (kind == 0) {
    rectangles = {all};
  } else if (kind <= 2) {
    std::vector<std::int64_t> slices;
    for (int left = rows; left > 0; left -= static_cast<int>(slices.back())) {
      slices.push_back(static_cast<int>(slices.size()) + 1 < count ? whole(random, 0, left) : left);
    }
    rectangles = wave2d::row_slices(problem, slices);
  } else if (kind <= 4) {
    rectangles = partition::column(random_areas(random, count), {rows, columns}).rectangles;
  } else if (kind <= 7) {
    cut_at_random(random, all, count, rectangles);
  } else {
    const int top = whole(random, 1, rows - 2), bottom = whole(random, 1, rows - 1 - top);
    const int left = whole(random, 1, columns - 2), right = whole(random, 1, columns - 1 - left);
    rectangles = {{0, 0, top, columns - right},
                  {0, columns - right, rows - bottom, right},
                  {rows - bottom, left, bottom, columns - left},
                  {top, 0, rows - top, left},
                  {top, left, rows - top - bottom, columns - left - right}};
  }
  if (whole(random, 0, 2) == 0) rectangles.emplace_back();
  std::ranges::shuffle(rectangles, random);
  return rectangles;
}

}  // namespace steelyard::tests
