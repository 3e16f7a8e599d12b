#pragma once

#include <functional>
#include <vector>

#include "partition/search/bottleneck.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

/// At least one choice for every unit, sizes from 0 or above it, costs full of ties.
inline partition::Choices random_choices(Random& random, int count, int most_units, int most_cost) {
  partition::Choices choices(static_cast<std::size_t>(count));
  for (auto& unit : choices) {
    const int step = whole(random, 1, 3);
    const int share = whole(random, 1, 4);
    for (int units = whole(random, 0, 3); units <= most_units; units += step) {
      if (whole(random, 1, 4) <= share) unit.push_back({units, whole(random, 0, most_cost)});
    }
    if (unit.empty()) unit.push_back({whole(random, 0, most_units), whole(random, 0, most_cost)});
  }
  return choices;
}

/// Every distribution that sums to `total`, with its largest cost and the sum of its costs.
inline void for_each_choice(
    std::int64_t total, const partition::Choices& choices,
    const std::function<void(const std::vector<std::int64_t>&, std::int64_t largest, std::int64_t sum)>& visit) {
  std::vector<std::int64_t> units(choices.size());
  const std::function<void(std::size_t, std::int64_t, std::int64_t, std::int64_t)> place =
      [&](std::size_t i, std::int64_t left, std::int64_t largest, std::int64_t sum) {
        if (i == choices.size()) {
          if (left == 0) visit(units, largest, sum);
          return;
        }
        for (const partition::Choice& choice : choices[i]) {
          if (choice.units > left) break;
          units[i] = choice.units;
          place(i + 1, left - choice.units, std::max(largest, choice.cost), sum + choice.cost);
        }
      };
  place(0, total, 0, 0);
}

}  // namespace steelyard::tests
