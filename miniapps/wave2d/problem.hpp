#pragma once

#include <cstdint>

namespace steelyard::wave2d {

enum class Boundary {
  dirichlet,  ///< the outermost points keep their values
  neumann,    ///< the wave is mirrored: a missing neighbour is the opposite one (003, section 2.1)
};

/// A grid of rows x columns points with equal spacing in both directions, and the scheme's Courant number.
struct Problem {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  double courant = 0.5;  ///< c dt / dx; the scheme is stable up to 1 / sqrt(2)
  Boundary boundary = Boundary::dirichlet;

  double points() const { return static_cast<double>(rows) * static_cast<double>(columns); }
};

}  // namespace steelyard::wave2d
