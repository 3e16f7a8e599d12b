#pragma once

#include <cstdint>
#include <vector>

#include "models/speed_model.hpp"

namespace steelyard::partition {

/// Whole sizes from `first` to `last`, both included.
struct SizeRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const SizeRange&) const = default;
};

/// Increasing, with gaps in between.
using SizeRanges = std::vector<SizeRange>;

/// Where the time of a model turns, at whole sizes: between neighbouring turning points it only grows or only falls, so
/// that all sizes within a time are found by a few bracketed root searches, t(x) = T. Turning points are looked for in
/// 8 parts of each gap between the model's breakpoints, a part halved as long as the cubic with its rise and its paces
/// at both ends turns within: what is missed is a dip in a part that no such cubic shows.
class TimeProfile {
 public:
  /// Makes the profile of `model`, which is not owned, from 0 to the lesser of `total` and what fits.
  /// @throws InvalidArgument where the model answers a negative time or NaN
  TimeProfile(const models::SpeedModel& model, std::int64_t total);

  std::int64_t capacity() const { return turns_.back().units; }
  /// Whether no size takes less time than a smaller one.
  bool grows() const { return turns_.size() <= 2; }
  /// The longest finite time of any size.
  double longest_s() const;
  double time_s(std::int64_t units) const { return model_->time_s(static_cast<double>(units)); }

  /// The largest size <= `limit` that takes at most `time_s`. @param known a size <= `limit` of which that is known
  std::int64_t largest_within(double time_s, std::int64_t known, std::int64_t limit) const;
  /// All sizes that take at most `time_s`.
  SizeRanges sizes_within(double time_s) const;

 private:
  struct Turn {
    std::int64_t units;
    double time_s;
  };
  Turn at(std::int64_t units) const { return {units, time_s(units)}; }
  std::int64_t last_within(double time_s, Turn within, Turn beyond) const;
  void look(std::vector<Turn>& samples, Turn right) const;

  const models::SpeedModel* model_;
  std::vector<Turn> turns_;  ///< from size 0 to the capacity
};

}  // namespace steelyard::partition
