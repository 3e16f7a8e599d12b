#include "partition/search/near_largest.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace steelyard::partition {
namespace {

constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();

std::span<const Choice> of(const NearLargest& near, std::size_t unit) {
  return {near.choices.data() + near.begin[unit], near.begin[unit + 1] - near.begin[unit]};
}

/// best[(i - 1) (target + 1) + d]: the least value of units i, …, p - 1 with distances that sum to d, where `combine`
/// says what a unit's cost and the value of those behind it make together; `not_reached` where there is none. Unit 0 is
/// left to the caller, who needs its value at the target only.
std::vector<std::int64_t> best_of_later(const NearLargest& near, std::int64_t not_reached, auto combine) {
  const std::size_t count = near.begin.size() - 1;
  const auto row = static_cast<std::size_t>(near.target + 1);
  std::vector<std::int64_t> best(count * row, not_reached);
  if (count == 1) best[0] = 0;  // nothing comes behind unit 0
  for (std::size_t i = count; i-- > 1;) {
    std::int64_t* const here = best.data() + (i - 1) * row;
    const std::int64_t* const after = here + row;
    for (const Choice& choice : of(near, i)) {
      const auto shift = static_cast<std::size_t>(choice.units);
      if (i + 1 == count) {
        here[shift] = choice.cost;
        continue;
      }
      for (std::size_t d = shift; d < row; ++d) here[d] = std::min(here[d], combine(choice.cost, after[d - shift]));
    }
  }
  return best;
}

}  // namespace

std::optional<NearLargest> near_largest(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                        const std::vector<std::size_t>& largest) {
  NearLargest near;
  near.target = -total;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::int64_t units = choices[i][largest[i]].units;
    if (near.target > little_work - units) return std::nullopt;
    near.target += units;
  }
  if (near.target < 0) return near;
  near.begin.reserve(choices.size() + 1);
  near.begin.push_back(0);
  const auto most_choices = static_cast<std::size_t>(little_work / (near.target + 1));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice* const first = choices[i].data();
    const Choice* choice = first + largest[i];
    const std::int64_t end = choice->units;
    const auto room = std::min(largest[i] + 1, static_cast<std::size_t>(near.target + 1));
    near.choices.resize(kept + room);
    for (;; --choice) {
      const std::int64_t distance = end - choice->units;
      if (distance > near.target) break;
      // No branch on the cost: on tables that vary nobody could foretell it.
      near.choices[kept] = {distance, choice->cost};
      kept += choice->cost <= most_cost ? 1 : 0;
      if (choice == first) break;
    }
    if (kept > most_choices) return std::nullopt;
    near.begin.push_back(kept);
  }
  near.choices.resize(kept);
  return near;
}

std::optional<std::int64_t> least_bottleneck(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  const auto larger = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  const std::vector<std::int64_t> best = best_of_later(near, infinite, larger);
  std::int64_t least = infinite;
  for (const Choice& choice : of(near, 0)) {
    least = std::min(least, larger(choice.cost, best[static_cast<std::size_t>(near.target - choice.units)]));
  }
  if (least == infinite) return std::nullopt;
  return least;
}

std::optional<std::vector<std::int64_t>> least_total(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  static constexpr std::int64_t not_reached = infinite / 2;  // a cost more does not overflow
  const auto sum = [](std::int64_t a, std::int64_t b) { return std::min(not_reached, a + b); };
  const std::vector<std::int64_t> best = best_of_later(near, not_reached, sum);
  const std::size_t count = near.begin.size() - 1;
  std::vector<std::int64_t> split;
  split.reserve(count);
  const std::int64_t* after = best.data();
  std::int64_t left = near.target;
  for (std::size_t i = 0; i < count; ++i, after += near.target + 1) {
    std::int64_t least = not_reached;
    std::int64_t distance = 0;
    for (const Choice& choice : of(near, i)) {
      if (choice.units > left) break;
      std::int64_t cost = choice.units == left ? choice.cost : not_reached;
      if (i + 1 < count) cost = sum(choice.cost, after[left - choice.units]);
      if (cost < least) {  // distances increase, so the first of several stays
        least = cost;
        distance = choice.units;
      }
    }
    if (least == not_reached) return std::nullopt;
    split.push_back(distance);
    left -= distance;
  }
  return split;
}

}  // namespace steelyard::partition
