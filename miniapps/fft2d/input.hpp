#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "core/base/npy.hpp"
#include "core/spaces.hpp"
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
  void operator()(std::int64_t first_row, std::span<Scalar> values) const {
    if (values.empty()) return;
    const std::int64_t numbers = problem_.columns * (problem_.real ? 1 : 2);
    const std::int64_t rows = static_cast<std::int64_t>(values.size()) / numbers;
    const std::int64_t present = std::clamp<std::int64_t>(extents_.rows - first_row, 0, rows);
    const bool padded = present < rows || extents_.columns < problem_.columns;
    if (padded) std::fill(values.begin(), values.end(), Scalar(0));
    if (path_.empty()) {
      const Kokkos::RangePolicy<HostExecution> rows_of_input(0, present);
      Kokkos::parallel_for("steelyard::fft2d::fill", rows_of_input, [=, this](const std::int64_t i) {
        Scalar* const row = values.data() + i * numbers;
        for (std::int64_t j = 0; j < extents_.columns; ++j) {
          const auto part = static_cast<Scalar>(real_.element(first_row + i, j));
          if (problem_.real) {
            row[j] = part;
          } else {
            row[2 * j] = part;
            row[2 * j + 1] = static_cast<Scalar>(imaginary_.element(first_row + i, j));
          }
        }
      });
      HostExecution().fence();
    } else if (problem_.real) {
      read<Scalar>(first_row, values);
    } else {
      read<std::complex<Scalar>>(first_row,
                                 {reinterpret_cast<std::complex<Scalar>*>(values.data()), values.size() / 2});
    }
  }

 private:
  template <class Element>
  void read(std::int64_t first_row, std::span<Element> elements) const {
    const NpyHeader header = read_npy_matrix_header<Element>(path_);
    const std::int64_t rows = static_cast<std::int64_t>(elements.size()) / problem_.columns;
    const std::int64_t present = std::clamp<std::int64_t>(extents_.rows - first_row, 0, rows);
    if (present == 0) return;
    const auto columns = static_cast<std::size_t>(extents_.columns);
    // Without gaps first, then each row to its place, the last one first.
    read_npy_rows<Element>(path_, header, first_row, elements.first(static_cast<std::size_t>(present) * columns));
    if (extents_.columns == problem_.columns) return;
    for (std::int64_t i = present - 1; i >= 0; --i) {
      Element* const to = elements.data() + i * problem_.columns;
      Element* const from = elements.data() + i * extents_.columns;
      std::copy_backward(from, from + columns, to + columns);
      std::fill(to + columns, to + problem_.columns, Element(0));
    }
  }

  Problem problem_;
  Extents extents_;
  std::filesystem::path path_;
  gemm::RandomMatrix real_;
  gemm::RandomMatrix imaginary_;
};

}  // namespace steelyard::fft2d
