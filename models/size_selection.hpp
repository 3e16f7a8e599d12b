#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::models {

/// Sizes from `smallest` to `largest`, both included, with equal ratios. Rounded to whole units, increasing, `count` of
/// them or fewer where rounding makes some equal.
/// @throws InvalidArgument unless 1 <= smallest <= largest and count >= 1 (>= 2 where the ends differ)
std::vector<std::int64_t> geometric_sizes(std::int64_t smallest, std::int64_t largest, int count);

/// Goal of measuring a piecewise linear model: speeds within `error` of the truth from `smallest` to `largest`.
struct AdaptiveGoal {
  std::int64_t smallest = 1;
  std::int64_t largest = 1;
  double error = 0.05;  ///< as a share of the speed
};

/// Where to start: sizes of equal ratio, at most 4.
/// @throws InvalidArgument unless 1 <= smallest <= largest and 0 < error < 1
std::vector<std::int64_t> first_sizes(const AdaptiveGoal& goal);

/// The gap between neighbouring points where a model is least certain, and the size that would tell.
struct UncertainGap {
  double left = 0.0;
  double right = 0.0;
  double error = 0.0;     ///< estimated, as a share of the speed
  std::int64_t next = 0;  ///< size inside the gap to measure
};

/// Estimates the interpolation error of each gap between points by how far the straight lines through the neighbouring
/// gaps, continued to its middle, miss the line through its own ends: exact for a kink, half of the worst for a jump,
/// four times too careful where the speed is smooth. What the points' confidence intervals explain does not count.
/// Returns, over all units that are measured at the same sizes, the gap with the largest estimate above the goal, or
/// nothing when the goal is met wherever gaps can still be split.
std::optional<UncertainGap> least_certain_gap(const AdaptiveGoal& goal,
                                              std::span<const std::vector<MeasuredPoint>> units);

}  // namespace steelyard::models
