#pragma once

#include <filesystem>

#include "core/base/plot/picture.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Writes the flow as VTK image data with a point at the centre of each cell: `velocity`, whose third component is 0,
/// `pressure` (over density and lid speed squared) and `streamfunction`. Velocities are means of a cell's two faces,
/// the streamfunction that of its four corners. Lengths are in widths. @throws RuntimeFailure when it cannot be written
void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

/// The colour of a speed, in lid speeds: the darker part of the sequential map, on which white lines are seen.
Rgb speed_colour(double speed);
/// Colour of streamlines.
inline constexpr Rgb line_colour{255, 255, 255};

/// Writes a PNG of the cavity, 800 pixels along its longer side whatever the grid is, the lid at the top: the speed as
/// colour, between grid points and walls by linear interpolation, and streamlines where the streamfunction has one of
/// the values that Ghia et al. (1982), Table III, draw, so that weak vortices in corners are seen too. Values are left
/// out that are less than 10 times what continuity leaves open at the lid (Streamfunction::closure_error()). Below it
/// is a PictureLegend with the flow's time. @throws RuntimeFailure when the file cannot be written
void write_flow_picture(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
