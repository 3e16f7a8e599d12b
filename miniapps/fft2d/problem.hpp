#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::fft2d {

/// Sign of the exponent: -1 forward, +1 inverse. An inverse transform is divided by the number of points, so that it
/// undoes the forward one.
enum class Direction { forward, inverse };

/// Points of a row's spectrum that are stored: of real rows the first half, which the other half mirrors.
constexpr std::int64_t stored_points(std::int64_t length, bool real) { return real ? length / 2 + 1 : length; }

/// The 2D discrete Fourier transform of a matrix, by rows and then by columns.
/// Source: 002, section 1 (row-column method).
struct Problem {
  std::int64_t rows = 2048;
  std::int64_t columns = 2048;
  Direction direction = Direction::forward;
  bool real = false;        ///< real input: only columns 0 to columns / 2 of the spectrum are made, forward only
  bool transposed = false;  ///< the spectrum is left as columns x rows, and not exchanged once more

  /// Columns of the spectrum, which are the rows of the second pass.
  std::int64_t spectrum_columns() const { return stored_points(columns, real); }
  double points() const { return static_cast<double>(rows) * static_cast<double>(columns); }
  double spectrum_points() const { return static_cast<double>(rows) * static_cast<double>(spectrum_columns()); }
};

/// 5 n log2(n) operations per complex transform of n points, half as many of real ones: the convention of FFTW's
/// benchmarks, not a count.
inline double transform_flops(const Problem& problem) {
  const double flops = 5.0 * problem.points() * std::log2(std::max(1.0, problem.points()));
  return problem.real ? flops / 2.0 : flops;
}

/// Rows or columns that slices come in multiples of: the points of a cache line, as far as these divide `total`. In the
/// transposed matrix every row of a slice that begins elsewhere shares its first and last line with another unit.
/// @param point_bytes of a complex number
inline std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes) {
  constexpr std::int64_t line_bytes = 64;
  return total > 0 ? std::gcd(total, line_bytes / point_bytes) : 1;
}

/// Rows and columns of a matrix.
using Extents = partition::Extents;

}  // namespace steelyard::fft2d
