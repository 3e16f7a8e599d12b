#pragma once

#include <optional>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/profile.hpp"
#include "miniapps/cavity/streamfunction.hpp"

namespace steelyard::cavity {

/// The figures by which lid-driven cavities are compared. Lengths are in widths of the cavity, velocities in lid
/// speeds.
struct FlowFigures {
  std::optional<VortexCentre> vortex;  ///< the primary one; none at rest
  double closure_error = 0.0;          ///< of the streamfunction: how sure its last digits are
  Extreme u_min;                       ///< on the vertical centre line
  Extreme v_min;                       ///< on the horizontal centre line
  Extreme v_max;
};

/// @throws InvalidArgument as require_flow_of()
FlowFigures flow_figures(const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
