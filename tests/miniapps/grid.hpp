#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "core/base/npy.hpp"

namespace steelyard::tests {

/// A field on a grid, row after row.
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
  file.write_rows(0, std::span<const Scalar>(grid.values));
  file.finish();
}

template <class Scalar>
Grid<Scalar> read_grid(const std::filesystem::path& path) {
  const NpyHeader header = read_npy_matrix_header<Scalar>(path);
  Grid<Scalar> grid(header.shape[0], header.shape[1]);
  read_npy_rows(path, header, 0, std::span<Scalar>(grid.values));
  return grid;
}

/// The leap-frog scheme (003, equation 2.7) as it is written on paper: the field `steps` steps after `current`.
template <class Scalar>
Grid<Scalar> advanced(Grid<Scalar> previous, Grid<Scalar> current, int steps, double courant, bool neumann) {
  const auto centre = static_cast<Scalar>(2.0 - 4.0 * courant * courant);
  const auto neighbour = static_cast<Scalar>(courant * courant);
  const auto mirrored = [](std::int64_t at, std::int64_t extent) {
    return at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
  };
  for (int step = 0; step < steps; ++step) {
    Grid<Scalar> next = current;
    for (std::int64_t i = 0; i < current.rows; ++i) {
      for (std::int64_t j = 0; j < current.columns; ++j) {
        if (!neumann && current.is_edge(i, j)) continue;
        const Scalar up = current(mirrored(i - 1, current.rows), j);
        const Scalar down = current(mirrored(i + 1, current.rows), j);
        const Scalar left = current(i, mirrored(j - 1, current.columns));
        const Scalar right = current(i, mirrored(j + 1, current.columns));
        next(i, j) = centre * current(i, j) - previous(i, j) + neighbour * (up + down + left + right);
      }
    }
    previous = std::move(current);
    current = std::move(next);
  }
  return current;
}

/// The standing wave with one half wave along the rows and two along the columns, `step` time steps after the start.
template <class Scalar>
Grid<Scalar> standing_wave_at(std::int64_t rows, std::int64_t columns, int step, double courant, bool neumann) {
  const double kx = std::numbers::pi / static_cast<double>(columns - 1);
  const double ky = 2.0 * std::numbers::pi / static_cast<double>(rows - 1);
  const double amplitude = std::cos(courant * std::sqrt(kx * kx + ky * ky) * step);
  Grid<Scalar> grid(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double x = kx * static_cast<double>(j);
      const double y = ky * static_cast<double>(i);
      grid(i, j) = static_cast<Scalar>(neumann              ? amplitude * std::cos(x) * std::cos(y)
                                       : grid.is_edge(i, j) ? 0.0
                                                            : amplitude * std::sin(x) * std::sin(y));
    }
  }
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

/// What rounding may make of `steps` steps of a field of values around 1: a random walk that the scheme carries on.
template <class Scalar>
double rounding(int steps) {
  return std::numeric_limits<Scalar>::epsilon() * (16.0 + 8.0 * steps * std::sqrt(static_cast<double>(steps)));
}

}  // namespace steelyard::tests
