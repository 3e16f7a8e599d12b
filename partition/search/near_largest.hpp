#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "partition/search/bottleneck.hpp"

namespace steelyard::partition {

/// The choices within a cost as distances from the largest size within it. A distribution stays below all largest sizes
/// together by exactly `target`, so choices that are further away than that are in none, and where the target is small
/// a dynamic programme over the few that are left decides in next to no time.
struct NearLargest {
  std::vector<Choice> choices;     ///< of all processing units one after the other; units: distance, increasing from 0
  std::vector<std::size_t> begin;  ///< of each unit, and the end
  std::int64_t target = 0;         ///< distances sum to this; negative where the largest sizes fall short of the total

  /// Steps of a dynamic programme over the sums 0, …, target.
  std::int64_t work() const { return static_cast<std::int64_t>(choices.size()) * (target + 1); }
};

/// Up to this much work a dynamic programme is faster than anything that looks at the sums as a whole.
constexpr std::int64_t little_work = 1 << 15;

/// @param largest of each unit the index of its last choice within the cost
/// @return nothing where there would be more than little work
std::optional<NearLargest> near_largest(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                        const std::vector<std::size_t>& largest);

/// The least cost c for which choices within c have distances that sum to the target; nothing where there is none.
/// Costs are at least 0 and below the largest number.
std::optional<std::int64_t> least_bottleneck(const NearLargest& near);

/// Distance of each unit in the cheapest distribution, of several the one with the lexicographically least
/// distances; nothing where there is none. The costs of all units must not overflow together.
std::optional<std::vector<std::int64_t>> least_total(const NearLargest& near);

}  // namespace steelyard::partition
