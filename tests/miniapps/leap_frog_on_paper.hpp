#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "tests/miniapps/grid.hpp"

namespace steelyard::tests {

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

/// What rounding may make of `steps` steps of a field of values around 1: a random walk that the scheme carries on.
template <class Scalar>
double rounding(int steps) {
  return std::numeric_limits<Scalar>::epsilon() * (16.0 + 8.0 * steps * std::sqrt(static_cast<double>(steps)));
}

}  // namespace steelyard::tests
