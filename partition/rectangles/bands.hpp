#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Neighbouring block rows (or block columns) that the same units have in common, as many as there are.
struct Band {
  std::int64_t first = 0;
  std::int64_t count = 0;  ///< at least 1
  std::vector<int> units;  ///< whose rectangles cover them, in rising order

  bool operator==(const Band&) const = default;
};

/// Bands of block rows from top to bottom: among the units of a band its part of SUMMA's pivot column is broadcast.
/// Empty rectangles are in none. O(p^2). Source: 001, section 4.1, figure 8.
std::vector<Band> row_bands(std::span<const Rectangle> rectangles);

/// Bands from left to right for the pivot row: the columns of a column-based partition.
std::vector<Band> column_bands(std::span<const Rectangle> rectangles);

}  // namespace steelyard::partition
