#pragma once

#include <cstdint>
#include <filesystem>

#include "comm/session.hpp"
#include "miniapps/wave2d/simulation.hpp"

namespace steelyard::wave2d {

/// Advances a field by `steps` and writes pictures of it on the way, evenly from the start to the last step, for people
/// and for ParaView: `frame_0000.png` in colours and `frame_0000.vti` (VTK image data) with values, in grid spacings.
/// Large grids are averaged over squares of points, such that no side has more than 2048. Colours mean the same in all
/// pictures: light grey is 0, the ends are the largest value of the first one. A picture's first row is the grid's;
/// ParaView shows that at the bottom. Rank 0 holds a whole picture. Collective.
/// @param pictures fewer are written where there are fewer steps; a single one is of the last step
/// @return how many were written
/// @throws CollectiveError when one cannot be written
template <class Scalar>
int write_pictures(const Session& session, const Problem& problem, Simulation<Scalar>& simulation, std::int64_t steps,
                   int pictures, const std::filesystem::path& folder);

}  // namespace steelyard::wave2d
