#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/communication/message_pattern.hpp"

namespace steelyard::partition {

/// Size of a matrix or grid in blocks.
struct Extents {
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  bool operator==(const Extents&) const = default;
};

/// Largest side: positions stay exact in double precision, and areas fit into 64 bits.
constexpr std::int64_t most_blocks_per_side = (std::int64_t{1} << 31) - 1;

/// @throws InvalidArgument unless both sides have 1 … most_blocks_per_side blocks
void require_extents(const Extents& extents);

/// The blocks that one processing unit owns: rows [row, row + rows) of columns [column, column + columns).
/// An empty rectangle is all zero and nobody's neighbour.
struct Rectangle {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  std::int64_t end_row() const { return row + rows; }
  std::int64_t end_column() const { return column + columns; }
  bool empty() const { return rows == 0 || columns == 0; }
  std::int64_t area() const { return rows * columns; }
  /// Blocks that the unit receives per iteration of SUMMA: `rows` of the pivot column, `columns` of the pivot row.
  /// 0 when empty.
  std::int64_t half_perimeter() const { return empty() ? 0 : rows + columns; }

  bool operator==(const Rectangle&) const = default;
};

/// Block rows or block columns [first, end).
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};
inline BlockRange rows_of(const Rectangle& rectangle) { return {rectangle.row, rectangle.end_row()}; }
inline BlockRange columns_of(const Rectangle& rectangle) { return {rectangle.column, rectangle.end_column()}; }

/// Common part of two rectangles; all zero where there is none.
Rectangle common_part(const Rectangle& a, const Rectangle& b);

/// A range of block rows or block columns that another unit has in common with one.
struct Overlap {
  int unit = -1;           ///< index of the other unit
  std::int64_t first = 0;  ///< first common block row (or column) of the matrix
  std::int64_t count = 0;  ///< common block rows (or columns); at least 1
};

/// For every rectangle all others that cover some of its block rows, near or far: whom it sends its part of SUMMA's
/// pivot column to. Ordered by first common row, then by unit. O(p^2). Source: 001, section 4.1, figure 8 ("overlaps").
std::vector<std::vector<Overlap>> row_overlaps(std::span<const Rectangle> rectangles);

/// Neighbours in block columns, for SUMMA's pivot row. Among the rectangles of a column-based partition these are the
/// others of the same column, each over its whole width.
std::vector<std::vector<Overlap>> column_overlaps(std::span<const Rectangle> rectangles);

/// Neighbouring block rows (or block columns) that the same units have in common, as many as there are.
struct Band {
  std::int64_t first = 0;
  std::int64_t count = 0;  ///< at least 1
  std::vector<int> units;  ///< whose rectangles cover them

  bool operator==(const Band&) const = default;
};

/// Bands of block rows from top to bottom, the units of each in rising order: among these its part of SUMMA's pivot
/// column is broadcast. Empty rectangles are in none. O(p^2). Source: 001, section 4.1, figure 8.
std::vector<Band> row_bands(std::span<const Rectangle> rectangles);

/// Bands from left to right for the pivot row: the columns of a column-based partition.
std::vector<Band> column_bands(std::span<const Rectangle> rectangles);

/// The communication of an iteration of SUMMA whose pivots are columns [first, first + depth) of A and those rows of B,
/// sizes in bytes. First every process that owns part of the pivot column sends it to those whose rows overlap, as much
/// as they have in common (pbc), then every owner of part of the pivot row to those whose columns overlap (pbr). A
/// process sends to one after the other. Process i owns rectangle i; a pivot lies within one rectangle per row and
/// column of the matrix. Source: 001, section 4.1, equations 8-10, figure 8, algorithm 1.
/// @param element_bytes of what rectangles are made of: elements, or blocks with pivots of depth 1
/// @throws InvalidArgument without rectangles, for a negative depth and a size that is negative or not finite
models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                                     double element_bytes);

}  // namespace steelyard::partition
