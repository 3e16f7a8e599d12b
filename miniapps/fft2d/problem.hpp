#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

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

/// Rows and columns of an input, or of the transform that it is padded to.
using Extents = partition::Extents;

/// Lengths that a transform of `length` points may be padded to: itself, and at most four of the numbers up to an
/// eighth larger whose prime factors are 2, 3, 5 and 7, ascending. With few points there is nothing to gain: below 32
/// only itself. Source: the companion work of 002 (PFFT-FPM-PAD) takes any length from the model; smooth ones are what
/// FFT libraries are fast at.
inline std::vector<std::int64_t> padded_lengths(std::int64_t length) {
  std::vector<std::int64_t> lengths{length};
  if (length < 32) return lengths;
  int most_twos = 0;
  for (std::int64_t longer = length + 1; longer <= length + length / 8; ++longer) {
    const int twos = std::countr_zero(static_cast<std::uint64_t>(longer));
    std::int64_t rest = longer >> twos;
    for (const std::int64_t factor : {3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest != 1) continue;
    // The next two, and of the others those that 2 divides more often than any shorter one.
    if (lengths.size() < 3 || (twos > most_twos && lengths.size() < 5)) lengths.push_back(longer);
    most_twos = std::max(most_twos, twos);
  }
  return lengths;
}

/// Extents with the least predicted time of both passes, rows / v(columns) + spectrum columns / v(rows), where v(n)
/// rows of n points per second are transformed by all units together. Of equal ones the smallest.
/// @param speed_of (length, real) is asked once for each length, and kind of pass
template <class SpeedOf>
Extents fastest_extents(const Extents& input, bool real, const SpeedOf& speed_of) {
  const std::vector<std::int64_t> rows = padded_lengths(input.rows), columns = padded_lengths(input.columns);
  std::vector<double> row_speeds, column_speeds;
  for (const std::int64_t length : columns) row_speeds.push_back(speed_of(length, real));
  for (const std::int64_t length : rows) column_speeds.push_back(speed_of(length, false));
  Extents best = input;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double time_s = static_cast<double>(rows[i]) / row_speeds[j] +
                            static_cast<double>(stored_points(columns[j], real)) / column_speeds[i];
      if (time_s >= best_s) continue;
      best = {rows[i], columns[j]};
      best_s = time_s;
    }
  }
  return best;
}

}  // namespace steelyard::fft2d
