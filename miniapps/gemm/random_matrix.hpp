#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/spaces.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Which of the three matrices.
enum class MatrixName : std::uint64_t { a = 1, b = 2, c = 3 };

/// Fills `elements` with a tile of a matrix, row after row without gaps.
template <class Scalar>
using MatrixSource = std::function<void(MatrixName name, const Tile& tile, std::span<Scalar> elements)>;

/// 64 bits that look random, a function of the argument alone. Source: G. Steele, D. Lea, C. Flood, Fast splittable
/// pseudorandom number generators, 2014 (SplitMix).
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t mixed_bits(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

/// An element of a random matrix, uniform in [-1, 1): the same on every unit and for every distribution.
class RandomMatrix {
 public:
  RandomMatrix(std::uint64_t seed, MatrixName name)
      : start_(mixed_bits(mixed_bits(seed) + static_cast<std::uint64_t>(name))) {}

  KOKKOS_INLINE_FUNCTION double element(std::int64_t row, std::int64_t column) const {
    const std::uint64_t bits =
        mixed_bits(start_ + (static_cast<std::uint64_t>(row) << 32) + static_cast<std::uint64_t>(column));
    // The upper 52 bits and a sign; every value has an exact double.
    return static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * (1.0 / (std::int64_t{1} << 52));
  }

 private:
  std::uint64_t start_;
};

/// Fills `elements` with a part of a row of the matrix, from an element on.
template <class Scalar>
void fill_row(const RandomMatrix& matrix, std::int64_t row, std::int64_t first_column, std::span<Scalar> elements) {
  for (Scalar& element : elements) element = static_cast<Scalar>(matrix.element(row, first_column++));
}

/// Fills `block`, `columns` columns of the matrix from an element on, row after row, with the host unit's threads;
/// fences.
template <class Scalar>
void fill_random(const RandomMatrix& matrix, std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                 std::span<Scalar> block) {
  if (block.empty()) return;
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
  const HostExecution space;
  Kokkos::parallel_for("steelyard::gemm::fill", Policy(space, 0, static_cast<std::int64_t>(block.size()) / columns),
                       [=](const std::int64_t row) {
                         const auto size = static_cast<std::size_t>(columns);
                         fill_row(matrix, first_row + row, first_column,
                                  block.subspan(static_cast<std::size_t>(row) * size, size));
                       });
  space.fence();
}

/// Element `column` of random vector `vector`, +1 or -1: the same on every process.
constexpr double random_sign(std::uint64_t seed, std::int64_t column, int vector) {
  const auto word = static_cast<std::uint64_t>(vector) / 64U;
  // Matrices of the same seed start from other bits, so that elements and signs are independent.
  const std::uint64_t start = mixed_bits(~seed);
  const std::uint64_t bits = mixed_bits(mixed_bits(start + static_cast<std::uint64_t>(column)) + word);
  return (bits >> (static_cast<std::uint64_t>(vector) % 64U) & 1U) != 0U ? 1.0 : -1.0;
}

}  // namespace steelyard::gemm
