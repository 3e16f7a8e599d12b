#pragma once

#include <algorithm>
#include <cstdint>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::gemm {

/// Part of a matrix, in elements.
using Tile = partition::Rectangle;

/// C = alpha A B + beta C for A of m x k, B of k x n, C of m x n, distributed in block rows of A and C.
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1.0;
  double beta = 0.0;
  std::int64_t block = 32;  ///< rows of a block row, the computation unit; the last one may have fewer

  bool reads_c() const { return beta != 0.0; }
  std::int64_t block_rows() const { return (m + block - 1) / block; }
  /// First row of a block row; m behind the last one.
  std::int64_t first_row(std::int64_t block_row) const { return std::min(m, block * block_row); }
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

}  // namespace steelyard::gemm
