#pragma once

#include <filesystem>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Writes the flow as VTK image data with a point at the centre of each cell: `velocity`, whose third component is 0,
/// `pressure` (over density and lid speed squared) and `streamfunction`. Velocities are means of a cell's two faces,
/// the streamfunction that of its four corners. Lengths are in widths of the cavity.
/// @throws InvalidArgument as require_flow_of(), RuntimeFailure when the file cannot be written
void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
