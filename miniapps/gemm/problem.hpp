#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "core/options.hpp"
#include "core/spaces.hpp"
#include "core/splitmix64.hpp"
#include "core/sweep/vector_for.hpp"
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

/// An element of a random matrix, uniform in [-1, 1): the same on every unit and for every distribution.
class RandomMatrix {
 public:
  RandomMatrix(std::uint64_t seed, MatrixName name)
      : start_(splitmix64(splitmix64(seed) + static_cast<std::uint64_t>(name))) {}

  KOKKOS_INLINE_FUNCTION double element(std::int64_t row, std::int64_t column) const {
    const std::uint64_t bits =
        splitmix64(start_ + (static_cast<std::uint64_t>(row) << 32) + static_cast<std::uint64_t>(column));
    // The upper 52 bits and a sign; every value has an exact double.
    return static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * (1.0 / (std::int64_t{1} << 52));
  }

 private:
  std::uint64_t start_;
};

/// Fills rows of pinned host memory with a part of the matrix, each by a team.
template <class Execution, class Scalar>
struct FillRows {
  using Policy = Kokkos::TeamPolicy<Execution>;
  RandomMatrix matrix;
  std::int64_t first_row, first_column, columns;
  Scalar* elements;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const std::int64_t row = member.league_rank();
    vector_for(member, 0, columns, [&](const std::int64_t j) {
      elements[row * columns + j] = static_cast<Scalar>(matrix.element(first_row + row, first_column + j));
    });
  }
};

/// Fills `block`, `columns` columns of the matrix from an element on, row after row, with a unit's threads, in pinned
/// memory for a device's; fences.
template <class Execution = HostExecution, class Scalar>
void fill_random(const RandomMatrix& matrix, std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                 std::span<Scalar> block) {
  if (block.empty()) return;
  using Fill = FillRows<Execution, Scalar>;
  constexpr int lanes = runs_on_host<Execution> ? 1 : 32;
  const auto rows = static_cast<int>(static_cast<std::int64_t>(block.size()) / columns);
  const Execution space;
  Kokkos::parallel_for("steelyard::gemm::fill", typename Fill::Policy(space, rows, 1, lanes),
                       Fill{matrix, first_row, first_column, columns, block.data()});
  space.fence();
}

/// Element `column` of random vector `vector`, +1 or -1: the same on every process.
constexpr double random_sign(std::uint64_t seed, std::int64_t column, int vector) {
  const auto word = static_cast<std::uint64_t>(vector) / 64U;
  // Matrices of the same seed start from other bits, so that elements and signs are independent.
  const std::uint64_t start = splitmix64(~seed);
  const std::uint64_t bits = splitmix64(splitmix64(start + static_cast<std::uint64_t>(column)) + word);
  return (bits >> (static_cast<std::uint64_t>(vector) % 64U) & 1U) != 0U ? 1.0 : -1.0;
}

}  // namespace steelyard::gemm
