#pragma once

#include <span>
#include <vector>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// A velocity of a run beside the published one, in lid speeds.
struct GhiaComparison {
  char profile = 'u';       ///< u on the vertical centre line or v on the horizontal one
  double coordinate = 0.0;  ///< y or x, in widths of the cavity
  double value = 0.0;       ///< the run's, by the cubic through four points of its profile
  double ghia = 0.0;

  double difference() const { return value - ghia; }
};

/// Whether Ghia et al. have tables for this cavity: square, Reynolds number 100, 400 or 1000.
bool ghia_has(const Problem& problem);

/// The run's velocities at the points of the published tables: first u, then v, each by rising coordinate; none for
/// other cavities. Coordinates are those of the published grid of 128 x 128 cells, which the tables give rounded to
/// four digits. The tables' v at x = 0.9063 for Reynolds number 400 is left out: it is a misprint, far off any smooth
/// curve. Source: U. Ghia, K. N. Ghia, C. T. Shin, High-Re solutions for incompressible flow using the Navier-Stokes
/// equations and a multigrid method, J. Comput. Phys. 48 (1982) 387-411, Tables I and II.
/// @throws InvalidArgument as require_flow_of()
std::vector<GhiaComparison> ghia_comparison(const Problem& problem, const FlowState& state);

/// The largest difference by amount among them; 0 for none.
double largest_difference(std::span<const GhiaComparison> points);

}  // namespace steelyard::cavity
