#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "miniapps/fft2d/padding.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::fft2d {

/// The input where the user gives none: numbers, or real and imaginary parts, uniform in [-1, 1), the same on every
/// unit.
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

/// The matrix that is transformed: of a file or at random, with zeros appended where it is padded.
template <class Scalar>
class Input {
 public:
  /// @param path empty: a random field
  Input(const Problem& problem, const Extents& extents, std::filesystem::path path, std::uint64_t seed)
      : problem_(problem), extents_(extents), path_(std::move(path)), field_(seed) {}

  /// Fills whole rows of the padded matrix, from a row on; complex numbers are pairs. Uses the host unit's threads.
  /// @throws FileFormatError
  void operator()(std::int64_t first_row, std::span<Scalar> values) const;

 private:
  template <class Element>
  void read(std::int64_t first_row, std::span<Element> elements) const;

  Problem problem_;
  Extents extents_;
  std::filesystem::path path_;
  RandomField field_;
};

}  // namespace steelyard::fft2d
