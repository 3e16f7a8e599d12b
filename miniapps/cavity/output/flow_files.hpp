#pragma once

#include <filesystem>
#include <string>

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

/// A flow from a file.
struct Checkpoint {
  FlowState state;
  double time_step = 0.0;  ///< that led to it

  /// A warning where the run continues with another time step than the checkpoint's; empty where they are equal.
  std::string note(const Problem& problem) const;
};

/// Writes all that a run needs to go on with the same bits, in one file that has its name only when it is whole. Its
/// first line is a JSON object: `schema` "steelyard.cavity_checkpoint/1", `byte_order` "little", `element` "float64",
/// `rows`, `columns`, `height`, `reynolds`, `scheme` ("euler" or "crank_nicolson"), `time_step`, `steps`, `time`,
/// `checksum` of all data, time_step, steps and time (FNV-1a of 64 bits over their words as doubles, as 16 hexadecimal
/// digits) and `arrays`, each with `name` and `offset` in bytes behind the line feed. The arrays follow, row after row
/// from the bottom, without gaps: u, v, p, u_before, v_before as in FlowState.
/// @throws InvalidArgument where a value is not finite, RuntimeFailure when the file cannot be written
void write_checkpoint(const std::filesystem::path& path, const Problem& problem, const FlowState& state);

/// Reads what write_checkpoint() has written. The time step may differ from the problem's: see Checkpoint::note().
/// @throws FileFormatError where it is no checkpoint, cut off or damaged, has values that are not finite or not 0 on
/// walls, or is one of another grid, height, Reynolds number or scheme
Checkpoint read_checkpoint(const std::filesystem::path& path, const Problem& problem);

}  // namespace steelyard::cavity
