#pragma once

#include <filesystem>

#include "core/base/plot/rgb.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// The colour of a speed, in lid speeds: the darker part of the sequential map, on which white lines are seen.
Rgb speed_colour(double speed);
/// That of streamlines.
inline constexpr Rgb line_colour{255, 255, 255};

/// Writes a PNG of the cavity, 800 pixels along its longer side whatever the grid is, the lid at the top: the speed as
/// colour, between grid points and walls by linear interpolation, and streamlines where the streamfunction has one of
/// the values that Ghia et al. (1982), Table III, draw, so that weak vortices in corners are seen too. Values are left
/// out that are less than 10 times what continuity leaves open at the lid (Streamfunction::closure_error()).
/// Below it is a PictureLegend with the flow's time.
/// @throws InvalidArgument as require_flow_of(), RuntimeFailure when the file cannot be written
void write_flow_picture(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
