#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "miniapps/wave2d/local_field.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/standing_wave.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// The two levels that a run starts from: those of the files, or of the standing wave. One file is a field at rest: the
/// previous level is the same.
template <class Scalar>
class InitialField {
 public:
  /// @param files none, the current level's, or the previous and the current one's
  InitialField(const Problem& problem, const StandingWave& wave, std::vector<std::filesystem::path> files);

  /// Fills a rectangle of a level, row after row without gaps. @throws FileFormatError
  void operator()(Level level, const partition::Rectangle& part, std::span<Scalar> values) const;

 private:
  void take_edges(const partition::Rectangle& part, std::span<Scalar> values) const;

  Problem problem_;
  StandingWave wave_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace steelyard::wave2d
