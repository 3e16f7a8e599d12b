#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/partition/random_areas.hpp"

namespace steelyard::tests {

/// Rectangles by cutting a rectangle into two again and again: not always columns.
inline void cut_at_random(Random& random, const partition::Rectangle& whole_one, int pieces,
                          std::vector<partition::Rectangle>& into) {
  const bool by_rows = whole(random, 0, 1) == 0 ? whole_one.rows > 1 : whole_one.columns <= 1;
  const std::int64_t length = by_rows ? whole_one.rows : whole_one.columns;
  if (pieces <= 1 || length < 2) {
    into.push_back(whole_one);
    return;
  }
  const std::int64_t at = whole(random, 1, static_cast<int>(length) - 1);
  partition::Rectangle one = whole_one, other = whole_one;
  (by_rows ? one.rows : one.columns) = at;
  (by_rows ? other.row : other.column) += at;
  (by_rows ? other.rows : other.columns) -= at;
  cut_at_random(random, one, pieces / 2, into);
  cut_at_random(random, other, pieces - pieces / 2, into);
}

/// Rectangles that tile a square matrix of `blocks` rows, at most `most` of them with blocks: columns by areas, or
/// anything else; some are empty.
inline std::vector<partition::Rectangle> random_rectangles(Random& random, int blocks, int most) {
  if (whole(random, 0, 1) == 0) {
    return partition::column(random_areas(random, whole(random, 1, most)), {blocks, blocks}).rectangles;
  }
  std::vector<partition::Rectangle> rectangles;
  cut_at_random(random, {0, 0, blocks, blocks}, whole(random, 1, most), rectangles);
  for (int empty = whole(random, 0, 2); empty > 0; --empty) rectangles.emplace_back();
  std::ranges::shuffle(rectangles, random);
  return rectangles;
}

}  // namespace steelyard::tests
