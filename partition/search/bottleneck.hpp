#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace steelyard::partition {

/// One choice of a processing unit: a number of computation units and its cost. Costs are whole numbers, so that no
/// result depends on the order of additions or on how a compiler rounds.
struct Choice {
  std::int64_t units = 0;
  std::int64_t cost = 0;
};

/// The choices of every processing unit, by increasing size, at least one each.
using Choices = std::vector<std::vector<Choice>>;

/// The least cost c for which choices within c sum to `total`; nothing where there is none. Begins where the largest
/// sizes within c suffice; near there few choices matter most often, and NearLargest finds it. Else bisects over
/// the costs that occur from there on.
std::optional<std::int64_t> least_bottleneck(std::int64_t total, const Choices& choices);

/// Which of several choices that all lead to `total` a processing unit gets.
enum class Prefer {
  more_units,  ///< the lexicographically greatest distribution
  less_cost,   ///< the cheapest, unit by unit from the first; among those the largest
};

/// A distribution of choices within a cost that sums to `total`; nothing where there is none.
/// Memory O(sqrt(p) total / 8) bytes at worst: sets of sums are kept at every sqrt(p)-th unit and rebuilt in between.
std::optional<std::vector<std::int64_t>> find_split(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                                    Prefer prefer);

/// The choices within a cost as distances from the largest size within it. A distribution stays below all largest sizes
/// together by exactly `target`, so choices that are further away than that are in none, and where the target is small
/// a dynamic programme over the few that are left decides in next to no time.
struct NearLargest {
  std::vector<Choice> choices;  ///< of all processing units one after the other; units: distance, increasing from 0
  std::vector<std::size_t> begin{0};  ///< of each unit, and the end
  std::int64_t target = 0;  ///< distances sum to this; negative where the largest sizes fall short of the total

  /// Steps of a dynamic programme over the sums 0, …, target.
  std::int64_t work() const { return static_cast<std::int64_t>(choices.size()) * (target + 1); }
};

/// @param largest of each unit the index of its last choice within the cost
/// @return nothing where there would be more than little work
std::optional<NearLargest> near_largest(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                        const std::vector<std::size_t>& largest);

/// Distance of each unit in the cheapest distribution, of several the one with the lexicographically least
/// distances; nothing where there is none. The costs of all units must not overflow together.
std::optional<std::vector<std::int64_t>> least_total(const NearLargest& near);

}  // namespace steelyard::partition
