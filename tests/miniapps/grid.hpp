#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "core/base/npy.hpp"

namespace steelyard::tests {

/// A matrix, or a field on a grid, row after row.
template <class Scalar>
struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Scalar> values;

  Grid(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count)) {}
  Scalar& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  Scalar operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
  bool is_edge(std::int64_t i, std::int64_t j) const { return i == 0 || j == 0 || i == rows - 1 || j == columns - 1; }
  bool operator==(const Grid&) const = default;
};

template <class Scalar>
Grid<Scalar> random_grid(std::int64_t rows, std::int64_t columns, unsigned seed) {
  Grid<Scalar> grid(rows, columns);
  std::mt19937 random(seed);
  // Not std::uniform_real_distribution, whose values are the library's choice.
  for (Scalar& value : grid.values) {
    value = static_cast<Scalar>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  }
  return grid;
}

template <class Scalar>
void write_grid(const std::filesystem::path& path, const Grid<Scalar>& grid) {
  const auto file = NpyMatrixFile::create<Scalar>(path, grid.rows, grid.columns);
  file.write_block(0, 0, grid.columns, std::span<const Scalar>(grid.values));
  file.finish();
}

template <class Scalar>
Grid<Scalar> read_grid(const std::filesystem::path& path) {
  const NpyHeader header = read_npy_matrix_header<Scalar>(path);
  Grid<Scalar> grid(header.shape[0], header.shape[1]);
  read_npy_block(path, header, 0, 0, grid.rows, grid.columns, std::span<Scalar>(grid.values));
  return grid;
}

/// Largest difference of two fields; infinite for other extents or a NaN.
template <class Scalar>
double largest_difference(const Grid<Scalar>& a, const Grid<Scalar>& b) {
  if (a.rows != b.rows || a.columns != b.columns) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]));
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace steelyard::tests
