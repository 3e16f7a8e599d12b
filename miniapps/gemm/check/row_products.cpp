#include "miniapps/gemm/check/row_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"
#include "core/sweep/host_row.hpp"

namespace steelyard::gemm {
namespace {

/// Columns after which the partial sums are sampled.
constexpr std::int64_t chunk = 64;

/// Multiplies some rows together, so that each element of the vectors that is loaded serves all of them.
template <class Scalar>
struct MultiplyRows {
  static constexpr std::int64_t rows_at_once = 4;
  struct Sums {
    double products[rows_at_once][vectors] = {};
    double squares[rows_at_once] = {};
  };

  ConstHostMatrix<Scalar> matrix;
  VectorBundle x;
  const unsigned char* skipped;  ///< null: no column
  RowProducts* result;

  void operator()(const std::int64_t block) const {
    const auto columns = static_cast<std::int64_t>(matrix.extent(1));
    // The last row again where there are no more.
    std::int64_t rows[rows_at_once];
    for (std::int64_t r = 0; r < rows_at_once; ++r) {
      rows[r] = std::min(block * rows_at_once + r, static_cast<std::int64_t>(matrix.extent(0)) - 1);
    }
    Sums sums;
    double partial_squares[rows_at_once] = {};
    for (std::int64_t begin = 0; begin < columns; begin += chunk) {
      sums = with_columns(sums, rows, begin, std::min(begin + chunk, columns));
      for (std::int64_t r = 0; r < rows_at_once; ++r) {
        for (const double sum : sums.products[r]) partial_squares[r] += sum * sum;
      }
    }
    const std::int64_t samples = (columns + chunk - 1) / chunk * vectors;
    for (std::int64_t r = 0; r < rows_at_once; ++r) {
      const auto row = static_cast<std::size_t>(rows[r]);
      std::copy_n(sums.products[r], vectors, result->products.at(rows[r]));
      result->partial_norms[row] = samples == 0 ? 0.0 : std::sqrt(partial_squares[r] / static_cast<double>(samples));
      // Squares that underflow are lost beside the others where these are large enough.
      constexpr double least = 1e-270;
      const double squares = sums.squares[r];
      const bool in_range = squares >= least && std::isfinite(squares);
      const long double row_squares = in_range ? static_cast<long double>(squares) : wide_squares(rows[r]);
      result->norms[row] = static_cast<double>(std::sqrt(row_squares));
      result->finite[row] = std::isfinite(row_squares) ? 1 : 0;
    }
  }

 private:
  Sums with_columns(Sums sums, const std::int64_t (&rows)[rows_at_once], const std::int64_t begin,
                    const std::int64_t end) const {
    const Scalar* elements[rows_at_once];
    for (std::int64_t r = 0; r < rows_at_once; ++r) elements[r] = &matrix(rows[r], 0);
    for (std::int64_t j = begin; j < end; ++j) {
      const bool counts = skipped == nullptr || skipped[j] == 0;
      double values[rows_at_once];
      for (std::int64_t r = 0; r < rows_at_once; ++r) {
        values[r] = counts ? static_cast<double>(elements[r][j]) : 0.0;
        sums.squares[r] += values[r] * values[r];
      }
      const double* const of_vectors = x.at(j);
      for_columns(vectors, [&](const std::int64_t v) {
        for (std::int64_t r = 0; r < rows_at_once; ++r) sums.products[r][v] += values[r] * of_vectors[v];
      });
    }
    return sums;
  }

  /// Sum of squares of a row where they leave the range of double, or that has NaN or Inf.
  long double wide_squares(const std::int64_t row) const {
    long double squares = 0.0L;
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(matrix.extent(1)); ++j) {
      const auto value = static_cast<long double>(matrix(row, j));
      if (skipped == nullptr || skipped[j] == 0) squares += value * value;
    }
    return squares;
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
  long double squares = 0.0L;
  for (const long double value : values) squares += value * value;
  return static_cast<double>(std::sqrt(squares));
}

template <class Scalar>
void expect_extents(const std::string& name, const ConstHostMatrix<Scalar>& matrix, std::int64_t rows,
                    std::int64_t columns) {
  if (static_cast<std::int64_t>(matrix.extent(0)) != rows || static_cast<std::int64_t>(matrix.extent(1)) != columns) {
    throw InvalidArgument(fmt::format("check of C: {} is {} x {}; expected {} x {}", name, matrix.extent(0),
                                      matrix.extent(1), rows, columns));
  }
}

template RowProducts row_products(const ConstHostMatrix<double>&, const VectorBundle&,
                                  const std::vector<unsigned char>&);
template RowProducts row_products(const ConstHostMatrix<float>&, const VectorBundle&,
                                  const std::vector<unsigned char>&);
template void expect_extents(const std::string&, const ConstHostMatrix<double>&, std::int64_t, std::int64_t);
template void expect_extents(const std::string&, const ConstHostMatrix<float>&, std::int64_t, std::int64_t);

}  // namespace steelyard::gemm
