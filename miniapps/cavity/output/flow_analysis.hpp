#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "miniapps/cavity/problem.hpp"

// Analysis of a flow on one rank. All functions take a state on the problem's grid.

namespace steelyard::cavity {

/// A value between points as a weighted sum of the values at `count` of them, `first` and those behind it.
struct Interpolation {
  std::size_t first = 0;
  std::size_t count = 0;
  std::array<double, 4> weight{};

  /// @param value_at called with the index of a point
  template <class Value>
  double of(const Value& value_at) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < count; ++k) sum += weight[k] * value_at(static_cast<std::int64_t>(first + k));
    return sum;
  }
};

/// Weights of the Lagrange polynomial through the points nearest to `x`, half of them on each side except near the
/// ends.
/// @param points rising, at any distances @param most of them to use, 2 or 4; fewer where there are fewer
Interpolation interpolation(std::span<const double> points, double x, std::size_t most);

/// A velocity along a line through the cavity, from wall to wall.
struct Profile {
  std::vector<double> coordinates;  ///< rising
  std::vector<double> values;

  /// Extremes of the parabola through the extreme point and its neighbours; at an end, the point's value.
  double minimum() const;
  double maximum() const;
};

/// The walls' coordinates and between them those of cell centres: cells + 2 points from 0 to `length`.
std::vector<double> centres_and_walls(std::int64_t cells, double length);
/// The coordinates of cell faces: cells + 1 points from 0 to `length`.
std::vector<double> faces(std::int64_t cells, double length);

/// u on the vertical line x = 1/2, as a function of y: at the centres of all rows and at the walls (0 below, 1 at the
/// lid). Where no face lies on the line (odd numbers of columns), it is the cubic's through the faces beside it.
Profile u_on_vertical_centre_line(const Problem& problem, const FlowState& state);
/// v on the horizontal line y = height / 2, as a function of x, in the same way; 0 at both walls.
Profile v_on_horizontal_centre_line(const Problem& problem, const FlowState& state);

/// Writes both profiles as CSV with a header: columns profile (u or v), coordinate (y or x, in widths of the cavity),
/// value (in lid speeds), ghia and difference. First all points of the grid, with the last two empty; then, where Ghia
/// et al. have computed the same cavity, the run's value at their points, theirs, and the former minus the latter.
/// @throws RuntimeFailure when the file cannot be written
void write_centre_lines(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

/// A velocity of a run beside the published one, in lid speeds.
struct GhiaComparison {
  char profile = 'u';       ///< u on the vertical centre line or v on the horizontal one
  double coordinate = 0.0;  ///< y or x, in widths of the cavity
  double value = 0.0;       ///< the run's, by the cubic through four points of its profile
  double ghia = 0.0;

  double difference() const { return value - ghia; }
};

/// The run's velocities at the points of the published tables, which there are for square cavities and Reynolds numbers
/// 100, 400 and 1000: first u, then v, each by rising coordinate; none for other cavities. Coordinates are those of the
/// published grid of 128 x 128 cells, which the tables give rounded to four digits. The tables' v at x = 0.9063 for
/// Reynolds number 400 is left out: it is a misprint, far off any smooth curve. Source: U. Ghia, K. N. Ghia, C. T.
/// Shin, High-Re solutions for incompressible flow using the Navier-Stokes equations and a multigrid method, J. Comput.
/// Phys. 48 (1982) 387-411, Tables I and II.
std::vector<GhiaComparison> ghia_comparison(const Problem& problem, const FlowState& state);

/// The largest difference by amount among them; 0 for none.
double largest_difference(std::span<const GhiaComparison> points);

/// The streamfunction at the corners of all cells, walls included: u = d psi / dy, v = -d psi / dx.
struct Streamfunction {
  std::int64_t rows = 0;  ///< of cells; there is one row of corners more
  std::int64_t columns = 0;
  std::vector<double> values;  ///< row after row, columns + 1 each

  double at(std::int64_t j, std::int64_t i) const { return values[static_cast<std::size_t>(j * (columns + 1) + i)]; }
  /// Error of continuity, by the solver's tolerance: the largest amount at the lid, where psi would be 0.
  double closure_error() const;
};

/// Sums up the fluxes u dy through the faces of each column, from 0 at the bottom: so psi of a flow whose cells all
/// conserve mass has exactly its fluxes, and the vortex that the lid drives has psi < 0. 0 on the walls; at the lid it
/// is what rounding and the solver's tolerance leave.
Streamfunction streamfunction(const Problem& problem, const FlowState& state);

/// The centre of a vortex: where the streamfunction is least.
struct VortexCentre {
  double streamfunction = 0.0;
  std::array<double, 2> position{};  ///< x and y, in widths of the cavity
};

/// The centre of the vortex that the lid drives, by the quadratic of central differences around the least corner: its
/// value is off by the third power of the cell's size, its position by the second. None where no corner inside has
/// psi < 0, as at rest.
std::optional<VortexCentre> primary_vortex(const Problem& problem, const Streamfunction& psi);

}  // namespace steelyard::cavity
