#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace steelyard::models {

/// One measured size of a kernel on a processing unit. Source: 000, section 6.1.2 (fupermod_point).
struct MeasuredPoint {
  static constexpr std::size_t most_parts = 4;

  double units = 0.0;         ///< computation units, > 0
  double time_s = 0.0;        ///< mean seconds, > 0
  int repetitions = 1;        ///< runs behind the mean
  double confidence_s = 0.0;  ///< half width of the mean's confidence interval; 0 where it was not measured
  int outliers = 0;           ///< runs far from the others, which count all the same
  std::array<double, most_parts> parts_s{};  ///< mean seconds of the run's parts, which FpmFile::parts names

  /// Computation units per second.
  double speed() const { return units / time_s; }
};

using Points = std::span<const MeasuredPoint>;

/// One point of several rounds, which came back to the same size after having measured others: the mean of their means.
/// Its confidence interval, of this level, is the wider one of sqrt(sum c_i^2) / n by the rounds' own intervals and of
/// Student's interval of their means, so that a machine that changes speed between rounds shows in it.
/// @throws InvalidArgument for no rounds, rounds of different sizes, or a level outside (0, 1)
MeasuredPoint merge_rounds(Points rounds, double level);

/// How much times of one size differ between rounds, as shares: what a machine does that changes speed.
struct Drift {
  double share = 0.0;  ///< standard deviation of a round's mean, over all sizes
  int degrees = 0;     ///< of freedom: rounds less one, added up over the sizes; 0 where nothing is known
  int rounds = 1;      ///< behind the mean of a point

  /// Adds the rounds of one size, or of sizes so close that speed is the same, of which a point is the mean.
  void add(Points of_size);
};

/// Where a size lies among points: at a share of the way from one to the next; beyond the ends both are the last one.
struct PlaceAmongPoints {
  std::size_t left = 0;
  std::size_t right = 0;
  double share = 0.0;
};
/// @param points at least one, by size
PlaceAmongPoints place_among(Points points, double units);

/// Speed at a size, linear between points and constant beyond them. @param points at least one, by size
double interpolated_speed(Points points, double units);

}  // namespace steelyard::models
