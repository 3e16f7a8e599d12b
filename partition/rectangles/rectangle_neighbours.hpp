#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// A range of block rows or block columns that another unit has in common with one.
struct Overlap {
  int unit = -1;           ///< index of the other unit
  std::int64_t first = 0;  ///< first common block row (or column) of the matrix
  std::int64_t count = 0;  ///< common block rows (or columns); at least 1

  bool operator==(const Overlap&) const = default;
};

/// Units whose rectangles touch one along an edge, in the order of the overlaps: what a stencil exchanges its halo
/// with. Touching at a corner is no contact. Source: 001, section 4.2 (the neighbourhood of equation 13).
struct Contacts {
  std::vector<Overlap> above;  ///< common block columns
  std::vector<Overlap> below;  ///< common block columns
  std::vector<Overlap> left;   ///< common block rows
  std::vector<Overlap> right;  ///< common block rows
};

/// Contacts of every rectangle. The rectangles are disjoint; empty ones have no contacts. O(p^2).
std::vector<Contacts> edge_contacts(std::span<const Rectangle> rectangles);

/// For every rectangle all others that cover some of its block rows, near or far: whom it sends its part of SUMMA's
/// pivot column to. Ordered by first common row, then by unit. O(p^2). Source: 001, section 4.1, figure 8 ("overlaps").
std::vector<std::vector<Overlap>> row_overlaps(std::span<const Rectangle> rectangles);

/// Neighbours in block columns, for SUMMA's pivot row. Among the rectangles of a column-based partition these are the
/// others of the same column, each over its whole width.
std::vector<std::vector<Overlap>> column_overlaps(std::span<const Rectangle> rectangles);

}  // namespace steelyard::partition
