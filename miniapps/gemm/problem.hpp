#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "core/options.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::gemm {

/// A BLAS counts with 32 bits.
inline constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

constexpr std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

/// C = alpha A B + beta C for A of m x k, B of k x n, C of m x n, distributed in block rows of A and C.
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1.0;
  double beta = 0.0;
  std::int64_t block = 32;  ///< rows of a block row, the computation unit; the last one may have fewer

  bool reads_c() const { return beta != 0.0; }
  std::int64_t block_rows() const { return quotient_up(m, block); }
  /// First row of a block row; m behind the last one.
  std::int64_t first_row(std::int64_t block_row) const { return std::min(m, block * block_row); }
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// Part of a matrix, in elements.
using Tile = partition::Rectangle;

/// Which of the three matrices.
enum class MatrixName : std::uint64_t { a = 1, b = 2, c = 3 };

/// Fills `elements` with a tile of a matrix, row after row without gaps.
template <class Scalar>
using MatrixSource = std::function<void(MatrixName name, const Tile& tile, std::span<Scalar> elements)>;

inline double element_bytes(ElementType element) {
  return element == ElementType::float64 ? sizeof(double) : sizeof(float);
}

}  // namespace steelyard::gemm
