#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/output/centre_lines.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// The streamfunction at the corners of all cells, walls included: u = d psi / dy, v = -d psi / dx.
struct Streamfunction {
  std::int64_t rows = 0;  ///< of cells; there is one row of corners more
  std::int64_t columns = 0;
  std::vector<double> values;  ///< row after row, columns + 1 each

  double at(std::int64_t j, std::int64_t i) const { return values[static_cast<std::size_t>(j * (columns + 1) + i)]; }
  /// What continuity leaves open, the solver's tolerance: the largest amount at the lid, where psi would be 0.
  double closure_error() const;
};

/// Sums up the fluxes u dy through the faces of each column, from 0 at the bottom: so psi of a flow whose cells all
/// conserve mass has exactly its fluxes, and the vortex that the lid drives has psi < 0. 0 on the walls; at the lid it
/// is what rounding and the solver's tolerance leave. @throws InvalidArgument as require_flow_of()
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

/// The figures by which lid-driven cavities are compared. Lengths are in widths of the cavity, velocities in lid
/// speeds.
struct FlowFigures {
  std::optional<VortexCentre> vortex;  ///< the primary one; none at rest
  Extreme u_min;                       ///< on the vertical centre line
  Extreme v_min;                       ///< on the horizontal centre line
  Extreme v_max;
};

/// @throws InvalidArgument as require_flow_of()
FlowFigures flow_figures(const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
