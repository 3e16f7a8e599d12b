#pragma once

#include <cstdint>
#include <span>

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

/// Sum over the rectangles, which stands for the volume of communication. Source: 000, section 3.3; 004, section III.
std::int64_t half_perimeters(std::span<const Rectangle> rectangles);

}  // namespace steelyard::partition
