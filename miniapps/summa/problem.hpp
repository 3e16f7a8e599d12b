#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/gemm/problem.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::summa {

using gemm::Tile;

/// C += A B for n x n matrices of blocks. A block is the computation unit; those of the last block row and column are
/// smaller where `block` does not divide n.
struct Problem {
  std::int64_t n = 2048;
  std::int64_t block = 128;  ///< rows and columns of a block

  /// N, block rows and block columns, and iterations. Source: 001, section 4.1.
  std::int64_t blocks() const { return gemm::quotient_up(n, block); }
  partition::Extents extents() const { return {blocks(), blocks()}; }
  /// The first row (or column) of a block row (or column); n behind the last one.
  std::int64_t first_row(std::int64_t index) const { return std::min(n, index * block); }
  /// Rows (or columns) of a block row (or column): the depth of iteration `index`. None is larger than the first.
  std::int64_t depth(std::int64_t index) const { return first_row(index + 1) - first_row(index); }
  Tile tile(const partition::Rectangle& blocks) const {
    const std::int64_t row = first_row(blocks.row), column = first_row(blocks.column);
    return {row, column, first_row(blocks.end_row()) - row, first_row(blocks.end_column()) - column};
  }
  gemm::Problem as_gemm() const { return {n, n, n, 1.0, 1.0}; }
  double flops() const { return as_gemm().flops(); }
};

/// A pivot block column of A, whose parts travel along rows, or a pivot block row of B, whose parts travel along
/// columns.
enum class Pivot { column, row };
inline constexpr Pivot both_pivots[] = {Pivot::column, Pivot::row};

/// Whether a rectangle has a part of pivot k.
inline bool owns(const partition::Rectangle& rectangle, Pivot pivot, std::int64_t k) {
  const partition::BlockRange range = pivot == Pivot::column ? columns_of(rectangle) : rows_of(rectangle);
  return !rectangle.empty() && range.first <= k && k < range.end;
}

/// How pivots travel.
enum class Communication {
  paper,      ///< non-blocking messages along rows, blocking ones along columns (001, algorithm 1)
  bcast,      ///< MPI_Bcast among the processes that share block rows, then among those that share block columns
  pipelined,  ///< the next iteration's messages while this one multiplies
};

inline const std::vector<std::string> communication_names{"paper", "bcast", "pipelined"};

}  // namespace steelyard::summa
