#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/rectangles/column_arrangement.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Some block columns of the matrix and the units that share them.
struct Column {
  std::int64_t first = 0;  ///< first block column
  std::int64_t count = 0;  ///< block columns; at least 1
  std::vector<int> units;  ///< from top to bottom; none of them is empty

  bool operator==(const Column&) const = default;
};

/// A matrix of blocks cut into columns, and each column into the rectangles of its units.
struct ColumnPartition {
  Extents extents;
  std::vector<Rectangle> rectangles;  ///< of each unit; together they cover every block exactly once
  std::vector<Column> columns;        ///< from left to right; a unit with an empty rectangle is in none

  /// Sum over the rectangles as they are, in blocks.
  std::int64_t half_perimeters() const { return partition::half_perimeters(rectangles); }

  bool operator==(const ColumnPartition&) const = default;
};

/// Rectangles with areas in proportion to `areas` (speeds, or what a one-dimensional algorithm gave to each unit of
/// rows x columns blocks), arranged in columns so that the sum of half-perimeters is least before it is rounded: see
/// best_arrangement().
///
/// Widths and, inside a column, heights are the proportional ones rounded down or up, such that the longest of area_i /
/// areas_i is least among all such roundings. So a rectangle lies within one block row of its unit's part of the
/// column, and the column within one block column of its units' part of the matrix. A column's width binds all its
/// units, so a bound of one block row overall does not exist: a unit alone in a column of 3.5 is half a column off.
///
/// What rounds to nothing is an empty rectangle, also for units with work: with fewer blocks than units somebody is
/// idle, and one block for a slow unit may take longer than all blocks of the others.
/// Source: 000, sections 3.3 and 4.2; 004, section III (Beaumont et al. as cited there).
/// @throws InvalidArgument as best_arrangement()
ColumnPartition column(std::span<const double> areas, const Extents& extents);

/// Partitions into a given number of columns, none of them empty before rounding.
ColumnPartition column(std::span<const double> areas, const Extents& extents, int columns);

/// Partitions by a given arrangement, which is kept. @throws InvalidArgument also as require_arrangement()
ColumnPartition column(std::span<const double> areas, const Extents& extents, const Arrangement& arrangement);

}  // namespace steelyard::partition
