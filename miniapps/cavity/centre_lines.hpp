#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/profile.hpp"

namespace steelyard::cavity {

/// The walls' coordinates and between them those of cell centres: cells + 2 points from 0 to `length`.
std::vector<double> centres_and_walls(std::int64_t cells, double length);
/// The coordinates of cell faces: cells + 1 points from 0 to `length`.
std::vector<double> faces(std::int64_t cells, double length);

/// u on the vertical line x = 1/2, as a function of y: at the centres of all rows and at the walls, where it is 0 below
/// and the lid's 1 above. Where no face lies on the line (odd numbers of columns), u is the cubic's through the faces
/// beside it. @throws InvalidArgument as require_flow_of()
Profile u_on_vertical_centre_line(const Problem& problem, const FlowState& state);
/// v on the horizontal line y = height / 2, as a function of x, in the same way; 0 at both walls.
Profile v_on_horizontal_centre_line(const Problem& problem, const FlowState& state);

/// Writes both profiles as CSV with a header: columns profile (u or v), coordinate (y or x, in widths of the cavity),
/// value (in lid speeds), ghia and difference. First all points of the grid, with the last two empty; then, where Ghia
/// et al. have computed the same cavity, the run's value at their points, theirs, and the former minus the latter.
/// @throws InvalidArgument as require_flow_of(), RuntimeFailure when the file cannot be written
void write_centre_lines(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
