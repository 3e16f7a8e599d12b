#pragma once

#include <cstdint>
#include <vector>

#include "miniapps/cavity/coefficients.hpp"

// The linear systems that MeasuredKernel iterates on: a grid of its unit's rows alone, with walls all around, and cells
// of height and width 1.

namespace steelyard::cavity {

/// Coefficients of both matrices, where nothing lies in a wall.
Coefficients measured_coefficients(std::int64_t rows, std::int64_t columns);

/// Of the pressure's and of both momentum equations.
KOKKOS_INLINE_FUNCTION double measured_right_side(std::int64_t j, std::int64_t i) {
  return static_cast<double>((7 * j + 3 * i) % 11) - 5.0;
}
/// What the convecting velocity is of that.
constexpr double convecting_share = 0.1;

/// The velocity after so many iterations of BiCGSTAB and the pressure after as many of CG, both from 0, in the order of
/// MeasuredKernel's check_run(): by the textbook, in more than double precision. Source: 000, Algorithms 2 and 3.
std::vector<double> serial_iterations(std::int64_t rows, std::int64_t columns, int iterations);

}  // namespace steelyard::cavity
