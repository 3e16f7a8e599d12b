#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Which units stand in which column: columns from left to right, the units of each from top to bottom.
using Arrangement = std::vector<std::vector<int>>;

/// The arrangement with the least sum of half-perimeters before rounding to blocks, of all arrangements in `columns`
/// columns, or in any number of them, at most as many as the matrix has blocks in a row. For R rows and W columns, C
/// columns with k_j units each and a fraction w_j of the area sum to C R + W (k_1 w_1 + … + k_C w_C). Units without
/// work stand nowhere.
///
/// Only units sorted by area and contiguous columns need to be tried. With the sizes k_j of the columns given, a unit
/// of relative area a in column j contributes a k_j W, and a sum of products is least when the largest areas meet the
/// smallest factors: the column of fewest units holds the largest areas, and so on. A dynamic programme over prefixes
/// of the sorted units, one column more each time, finds the cuts: S(c, q) = min over r of S(c - 1, r) + (q - r) (area
/// of units r … q - 1). O(C p^2); C stops where C R + W, which no arrangement of C columns can beat, exceeds the best.
/// Equal areas keep their order, and of equal sums the one of fewer columns is taken.
/// Source: 000, section 3.3 (Kalinov and Lastovetsky; Beaumont et al. as cited there); 004, section III, figure 2.
/// @throws InvalidArgument for no areas, an area that is negative or not finite, and when all are 0; for extents as
/// require_extents(); for fewer than 1 column, and more than there are units with work or blocks in a row
Arrangement best_arrangement(std::span<const double> areas, const Extents& extents, std::optional<int> columns = {});

/// Some block columns of the matrix and the units that share them, from top to bottom; none of them is empty.
using Column = Band;

/// A matrix of blocks cut into columns, and each column into the rectangles of its units.
struct ColumnPartition {
  Extents extents;
  std::vector<Rectangle> rectangles;  ///< of each unit; together they cover every block exactly once
  std::vector<Column> columns;        ///< from left to right; a unit with an empty rectangle is in none

  /// Sum over the rectangles as they are, in blocks, which stands for the volume of communication.
  /// Source: 000, section 3.3; 004, section III.
  std::int64_t half_perimeters() const;
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
/// An area that rounds to 0 becomes an empty rectangle, also for units with work: with fewer blocks than units somebody
/// is idle, and one block for a slow unit may take longer than all blocks of the others. Source: 000, sections 3.3
/// and 4.2; 004, section III (Beaumont et al. as cited there).
/// @param columns how many, none of them empty before rounding; nothing: the best number
/// @throws InvalidArgument as best_arrangement()
ColumnPartition column(std::span<const double> areas, const Extents& extents, std::optional<int> columns = {});

}  // namespace steelyard::partition
