#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "comm/session.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/simulation.hpp"

namespace steelyard::wave2d {

/// The steps after which `frames` pictures are taken, evenly from the start (0) to the last one; fewer where there are
/// fewer steps. One frame is the last.
std::vector<std::int64_t> frame_steps(std::int64_t steps, int frames);

/// Pictures of the field, for people and for ParaView: `frame_0000.png` in colours and `frame_0000.vti` (VTK image
/// data) with values, in grid spacings. Large grids are averaged over squares of points, such that no side has more
/// than 2048. Colours mean the same in all frames: light grey is 0, the ends are the largest value of the first frame.
/// A picture's first row is the grid's; ParaView shows that at the bottom.
template <class Scalar>
class Frames {
 public:
  Frames(const Session& session, const Problem& problem, const std::filesystem::path& folder);

  /// Writes the next one; rank 0 holds the whole picture. Collective. @throws CollectiveError when it cannot be written
  void add(const Simulation<Scalar>& simulation);

  int count() const { return count_; }

 private:
  void write(const std::vector<float>& picture) const;
  std::int64_t rows() const { return (problem_.rows + square_ - 1) / square_; }
  std::int64_t columns() const { return (problem_.columns + square_ - 1) / square_; }

  const Session& session_;
  Problem problem_;
  std::filesystem::path folder_;
  std::int64_t square_;  ///< points per side of what becomes one
  float largest_ = 0.0F;
  int count_ = 0;
};

}  // namespace steelyard::wave2d
