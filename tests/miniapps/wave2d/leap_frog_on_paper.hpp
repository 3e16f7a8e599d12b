#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/miniapps/grid.hpp"

namespace steelyard::tests {

/// The second difference as it is written on paper: of second order (001, equation 12; 003, equation 2.7) or of fourth.
/// Neumann: the wave is even about the outermost points, u(-d) = u(d); Dirichlet: it is odd about their values,
/// u(-d) = 2 u(0) - u(d).
/// @param line(i) the values along a row or a column of `extent` points
template <class Scalar, class Line>
Scalar second_difference(const Line& line, std::int64_t extent, std::int64_t at, bool neumann, int order) {
  const auto u = [&](std::int64_t i) {
    if (i >= 0 && i < extent) return line(i);
    const std::int64_t edge = i < 0 ? 0 : extent - 1;
    const Scalar mirrored = line(2 * edge - i);
    return neumann ? mirrored : 2 * line(edge) - mirrored;
  };
  if (order == 2) return u(at - 1) - 2 * u(at) + u(at + 1);
  return (-u(at - 2) + 16 * u(at - 1) - 30 * u(at) + 16 * u(at + 1) - u(at + 2)) / 12;
}

/// One step of the leap-frog scheme. The outermost points of a Dirichlet field keep their values.
template <class Scalar>
Grid<Scalar> next_level(const Grid<Scalar>& previous, const Grid<Scalar>& current, double courant, bool neumann,
                        int order) {
  const auto c2 = static_cast<Scalar>(courant * courant);
  Grid<Scalar> next = current;
  for (std::int64_t i = 0; i < current.rows; ++i) {
    for (std::int64_t j = 0; j < current.columns; ++j) {
      if (!neumann && current.is_edge(i, j)) continue;
      const auto row = [&](std::int64_t column) { return current(i, column); };
      const auto column = [&](std::int64_t row_of_column) { return current(row_of_column, j); };
      const Scalar second_differences = second_difference<Scalar>(row, current.columns, j, neumann, order) +
                                        second_difference<Scalar>(column, current.rows, i, neumann, order);
      next(i, j) = 2 * current(i, j) - previous(i, j) + c2 * second_differences;
    }
  }
  return next;
}

/// The field `steps` steps after `current`.
template <class Scalar>
Grid<Scalar> advanced(Grid<Scalar> previous, Grid<Scalar> current, int steps, double courant, bool neumann, int order) {
  for (int step = 0; step < steps; ++step) {
    Grid<Scalar> next = next_level(previous, current, courant, neumann, order);
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

/// What rounding may make of `steps` steps of a field of values around 1: a random walk that the scheme carries on.
template <class Scalar>
double rounding(int steps) {
  return std::numeric_limits<Scalar>::epsilon() * (16.0 + 8.0 * steps * std::sqrt(static_cast<double>(steps)));
}

}  // namespace steelyard::tests
