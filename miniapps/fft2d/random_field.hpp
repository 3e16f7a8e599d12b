#pragma once

#include <cstdint>
#include <span>

#include "core/spaces.hpp"
#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::fft2d {

/// The input where the user gives none: numbers, or real and imaginary parts, uniform in [-1, 1), the same whoever
/// computes them.
class RandomField {
 public:
  explicit RandomField(std::uint64_t seed) : real_(seed, gemm::MatrixName::a), imaginary_(seed, gemm::MatrixName::b) {}

  /// Sets the first `columns` numbers of a row.
  template <class Scalar>
  void fill(std::int64_t row, std::int64_t columns, bool real, Scalar* values) const {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto part = static_cast<Scalar>(real_.element(row, j));
      if (real) {
        values[j] = part;
      } else {
        values[2 * j] = part;
        values[2 * j + 1] = static_cast<Scalar>(imaginary_.element(row, j));
      }
    }
  }

 private:
  gemm::RandomMatrix real_;
  gemm::RandomMatrix imaginary_;
};

}  // namespace steelyard::fft2d
