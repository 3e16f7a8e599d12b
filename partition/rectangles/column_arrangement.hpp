#pragma once

#include <span>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Which units stand in which column: columns from left to right, the units of each from top to bottom.
using Arrangement = std::vector<std::vector<int>>;

/// Areas divided by their sum. A unit of area 0 is without work.
/// @throws InvalidArgument for no areas, an area that is negative or not finite, and when all are 0
std::vector<double> relative_areas(std::span<const double> areas);

/// Every unit with work stands in exactly one column, a unit without in at most one.
/// @throws InvalidArgument naming the unit that does not
void require_arrangement(std::span<const double> areas, const Arrangement& arrangement);

/// Sum of half-perimeters before rounding to blocks, for R rows and W columns: C columns with k_j units each and a
/// fraction w_j of the area sum to C R + W (k_1 w_1 + … + k_C w_C). Units without work do not count.
/// Source: 004, section III, figure 2; Beaumont et al. as cited there.
/// @throws InvalidArgument as relative_areas(), require_arrangement() and require_extents()
double half_perimeters(std::span<const double> areas, const Arrangement& arrangement, const Extents& extents);

/// The arrangement with the least sum of half-perimeters of all arrangements in columns, at most as many as the matrix
/// has blocks in a row. Units without work stand nowhere.
///
/// Only units sorted by area and contiguous columns need to be tried. With the sizes k_j of the columns given, a unit
/// of relative area a in column j contributes a k_j W, and a sum of products is least when the largest areas meet the
/// smallest factors: the column of fewest units holds the largest areas, and so on. A dynamic programme over prefixes
/// of the sorted units, one column more each time, finds the cuts: S(c, q) = min over r of S(c - 1, r) + (q - r) (area
/// of units r … q - 1). O(C p^2); C stops where C R + W, which no arrangement of C columns can beat, exceeds the best.
/// Equal areas keep their order, and of equal sums the one of fewer columns is taken.
/// Source: 000, section 3.3 (Kalinov and Lastovetsky; Beaumont et al. as cited there); 004, section III.
/// @throws InvalidArgument as relative_areas() and require_extents()
Arrangement best_arrangement(std::span<const double> areas, const Extents& extents);

/// Arranges units in exactly `columns` columns, none without work.
/// @throws InvalidArgument also for fewer than 1 column, and more than there are units with work or blocks in a row
Arrangement best_arrangement(std::span<const double> areas, const Extents& extents, int columns);

}  // namespace steelyard::partition
