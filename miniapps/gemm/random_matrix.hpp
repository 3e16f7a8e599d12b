#pragma once

#include <cstdint>

#include "core/spaces.hpp"

namespace steelyard::gemm {

/// Which of the three matrices.
enum class MatrixName : std::uint64_t { a = 1, b = 2, c = 3 };

/// 64 bits that look random, a function of the argument alone. Source: G. Steele, D. Lea, C. Flood, Fast splittable
/// pseudorandom number generators, 2014 (SplitMix).
KOKKOS_INLINE_FUNCTION constexpr std::uint64_t mixed_bits(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

/// An element of a random matrix, uniform in [-1, 1): the same whoever computes it, however the rows are distributed.
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

}  // namespace steelyard::gemm
