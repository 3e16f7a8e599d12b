#include "miniapps/gemm/check/row_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace steelyard::gemm {
namespace {

/// Columns that are converted to double and multiplied at a time, few enough to stay in the nearest cache with their
/// part of the vectors.
constexpr int chunk = 64;
using Chunk = std::array<double, chunk>;

/// Copies elements to where they are multiplied, 0 in place of those skipped; returns the sum of their squares.
template <bool Skips, class Scalar>
double load(const Scalar* from, const unsigned char* skipped, const int count, double* to) {
  double squares = 0.0;
#if defined(_OPENMP)
#pragma omp simd reduction(+ : squares)
#endif
  for (int j = 0; j < count; ++j) {
    double value = static_cast<double>(from[j]);
    if constexpr (Skips) value = skipped[j] != 0 ? 0.0 : value;
    to[j] = value;
    squares += value * value;
  }
  return squares;
}

/// Adds values[r] x to row r of `sums`; adds up the squares of the new sums in squares[r].
template <std::size_t Rows>
void add_products(const std::array<Chunk, Rows>& values, const int count, const double* const x, double* const sums,
                  std::array<double, Rows>& squares) {
  double sum[Rows][vectors];
  for (std::size_t r = 0; r < Rows; ++r) std::copy_n(sums + r * vectors, vectors, sum[r]);
  for (int j = 0; j < count; ++j) {
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (int v = 0; v < vectors; ++v) {
      const double element = x[j * vectors + v];
      for (std::size_t r = 0; r < Rows; ++r) sum[r][v] += values[r][j] * element;
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    std::copy_n(sum[r], vectors, sums + r * vectors);
    for (int v = 0; v < vectors; ++v) squares[r] += sum[r][v] * sum[r][v];
  }
}

template <class Scalar>
struct MultiplyRows {
  static constexpr int rows_at_once = 4;  ///< each element of the vectors that is loaded serves all of them

  ConstHostMatrix<Scalar> matrix;
  VectorBundle x;
  const unsigned char* skipped;
  RowProducts* result;

  void operator()(const std::int64_t block) const {
    const std::int64_t first = block * rows_at_once;
    const std::int64_t end = std::min(first + rows_at_once, static_cast<std::int64_t>(matrix.extent(0)));
    if (end - first == rows_at_once) {
      multiply<rows_at_once>(first);
      return;
    }
    for (std::int64_t row = first; row < end; ++row) multiply<1>(row);
  }

 private:
  std::int64_t columns() const { return static_cast<std::int64_t>(matrix.extent(1)); }
  double load_chunk(const std::int64_t row, const std::int64_t begin, const int count, Chunk& to) const {
    const Scalar* const from = matrix.data() + row * static_cast<std::int64_t>(matrix.stride(0)) + begin;
    return skipped == nullptr ? load<false>(from, nullptr, count, to.data())
                              : load<true>(from, skipped + begin, count, to.data());
  }

  template <std::size_t Rows>
  void multiply(const std::int64_t first) const {
    alignas(64) std::array<Chunk, Rows> values;
    std::array<double, Rows> squares{};
    std::array<double, Rows> partial_squares{};
    for (std::int64_t begin = 0; begin < columns(); begin += chunk) {
      const int count = static_cast<int>(std::min<std::int64_t>(chunk, columns() - begin));
      for (std::size_t r = 0; r < Rows; ++r)
        squares[r] += load_chunk(first + static_cast<std::int64_t>(r), begin, count, values[r]);
      add_products(values, count, x.at(begin), result->products.at(first), partial_squares);
    }
    const std::int64_t chunks = (columns() + chunk - 1) / chunk;
    const auto samples = static_cast<double>(chunks * vectors);
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto row = static_cast<std::size_t>(first) + r;
      result->partial_norms[row] = samples == 0.0 ? 0.0 : std::sqrt(partial_squares[r] / samples);
      // Squares that underflow are lost beside the others where these are large enough.
      constexpr double least = 1e-270;
      result->finite[row] = 1;
      if (squares[r] >= least && std::isfinite(squares[r])) {
        result->norms[row] = std::sqrt(squares[r]);
      } else {
        scaled_norm(first + static_cast<std::int64_t>(r));
      }
    }
  }

  /// Norm of a row whose squares leave the range of double, or NaN or Inf in it.
  void scaled_norm(const std::int64_t row) const {
    double& norm = result->norms[static_cast<std::size_t>(row)];
    Chunk values;
    double largest = 0.0;
    for (std::int64_t begin = 0; begin < columns(); begin += chunk) {
      const int count = static_cast<int>(std::min<std::int64_t>(chunk, columns() - begin));
      load_chunk(row, begin, count, values);
      for (int j = 0; j < count; ++j) {
        if (!std::isfinite(values[j])) result->finite[static_cast<std::size_t>(row)] = 0;
        largest = std::max(largest, std::fabs(values[j]));
      }
    }
    double squares = 0.0;
    for (std::int64_t begin = 0; begin < columns() && largest > 0.0; begin += chunk) {
      const int count = static_cast<int>(std::min<std::int64_t>(chunk, columns() - begin));
      load_chunk(row, begin, count, values);
      for (int j = 0; j < count; ++j) squares += (values[j] / largest) * (values[j] / largest);
    }
    norm = largest * std::sqrt(squares);
  }
};

}  // namespace

template <class Scalar>
RowProducts row_products(const ConstHostMatrix<Scalar>& matrix, const VectorBundle& x,
                         const std::vector<unsigned char>& skipped) {
  const std::size_t rows = matrix.extent(0);
  RowProducts result{VectorBundle(static_cast<std::int64_t>(rows)), std::vector<double>(rows),
                     std::vector<double>(rows), std::vector<unsigned char>(rows)};
  constexpr std::int64_t rows_at_once = MultiplyRows<Scalar>::rows_at_once;
  for_host_rows((static_cast<std::int64_t>(rows) + rows_at_once - 1) / rows_at_once,
                MultiplyRows<Scalar>{matrix, x, skipped.empty() ? nullptr : skipped.data(), &result});
  return result;
}

double euclidean_norm(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  double squares = 0.0;
  for (const double value : values) squares += (value / largest) * (value / largest);
  return largest * std::sqrt(squares);
}

template RowProducts row_products(const ConstHostMatrix<double>&, const VectorBundle&,
                                  const std::vector<unsigned char>&);
template RowProducts row_products(const ConstHostMatrix<float>&, const VectorBundle&,
                                  const std::vector<unsigned char>&);

}  // namespace steelyard::gemm
