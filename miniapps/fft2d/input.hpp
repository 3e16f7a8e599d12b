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

/// The matrix that is transformed, with zeros appended where it is padded: of a file or at random. Random numbers, or
/// real and imaginary parts, are uniform in [-1, 1), and the same on every unit.
template <class Scalar>
class Input {
 public:
  /// @param path empty: random numbers
  Input(const Problem& problem, const Extents& extents, std::filesystem::path path, std::uint64_t seed)
      : problem_(problem),
        extents_(extents),
        path_(std::move(path)),
        real_(seed, gemm::MatrixName::a),
        imaginary_(seed, gemm::MatrixName::b) {}

  /// Fills whole rows of the padded matrix, from a row on; complex numbers are pairs. Uses the host unit's threads.
  /// @throws FileFormatError
  void operator()(std::int64_t first_row, std::span<Scalar> values) const;

 private:
  template <class Element>
  void read(std::int64_t first_row, std::span<Element> elements) const;

  Problem problem_;
  Extents extents_;
  std::filesystem::path path_;
  gemm::RandomMatrix real_;
  gemm::RandomMatrix imaginary_;
};

}  // namespace steelyard::fft2d
