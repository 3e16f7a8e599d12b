#pragma once

#include <algorithm>
#include <cstdint>

#include "partition/rectangle.hpp"

namespace steelyard::summa {

/// Part of a matrix, in elements.
struct Tile {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  bool empty() const { return rows == 0 || columns == 0; }
  bool operator==(const Tile&) const = default;
};

/// C += A B for n x n matrices of blocks. A block is the computation unit; those of the last block row and column are
/// smaller where `block` does not divide n.
struct Problem {
  std::int64_t n = 2048;
  std::int64_t block = 128;  ///< rows and columns of a block

  /// N, block rows and block columns, and iterations. Source: 001, section 4.1.
  std::int64_t blocks() const { return (n + block - 1) / block; }
  partition::Extents extents() const { return {blocks(), blocks()}; }
  /// The first row (or column) of a block row (or column); n behind the last one.
  std::int64_t first_row(std::int64_t index) const { return std::min(n, index * block); }
  /// Rows (or columns) of a block row (or column): the depth of iteration `index`.
  std::int64_t depth(std::int64_t index) const { return first_row(index + 1) - first_row(index); }
  Tile tile(const partition::Rectangle& blocks) const {
    const std::int64_t row = first_row(blocks.row), column = first_row(blocks.column);
    return {row, column, first_row(blocks.end_row()) - row, first_row(blocks.end_column()) - column};
  }
  double flops() const {
    const auto real = static_cast<double>(n);
    return 2.0 * real * real * real;
  }
};

}  // namespace steelyard::summa
