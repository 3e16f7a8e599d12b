#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "partition/rectangles/internode_traffic.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

/// Columns of one height with 1 … `most_units` units each, on `nodes` nodes; low, so that edges often meet.
inline std::vector<partition::Stack> random_stacks(Random& random, int columns, int most_units, int nodes) {
  const int rows = whole(random, most_units, 3 * most_units);
  std::vector<partition::Stack> stacks;
  int unit = 0;
  for (int i = 0; i < columns; ++i) {
    partition::Stack stack{whole(random, 1, 12), {}};
    int left = rows;
    for (int k = whole(random, 1, most_units); k > 0; --k) {
      const int height = k == 1 ? left : whole(random, 1, std::min(left - k + 1, 2 * left / k));
      stack.units.push_back({unit++, height, whole(random, 0, nodes - 1)});
      left -= height;
    }
    stacks.push_back(stack);
  }
  return stacks;
}

/// Every order of the units in the columns, the columns staying where they are.
inline void for_each_unit_order(std::vector<partition::Stack>& stacks, std::size_t column,
                                const std::function<void()>& visit) {
  if (column == stacks.size()) return visit();
  const auto by_unit = [](const partition::StackedUnit& a, const partition::StackedUnit& b) { return a.unit < b.unit; };
  std::vector<partition::StackedUnit>& units = stacks[column].units;
  std::sort(units.begin(), units.end(), by_unit);
  do {
    for_each_unit_order(stacks, column + 1, visit);
  } while (std::next_permutation(units.begin(), units.end(), by_unit));
}

/// The least traffic of all orders of columns and of units in columns, one after the other.
inline std::int64_t least_traffic(std::vector<partition::Stack> stacks) {
  const auto by_unit = [](const partition::Stack& a, const partition::Stack& b) {
    return a.units.front().unit < b.units.front().unit;
  };
  std::int64_t least = partition::internode_traffic(stacks);
  std::sort(stacks.begin(), stacks.end(), by_unit);
  do {
    std::vector<partition::Stack> ordered = stacks;
    for_each_unit_order(ordered, 0, [&] { least = std::min(least, partition::internode_traffic(ordered)); });
  } while (std::next_permutation(stacks.begin(), stacks.end(), by_unit));
  return least;
}

/// What reordering must keep: for every unit, in ascending order, the width of its column, its rows and its node, and
/// the sets of units that share a column.
inline std::vector<std::vector<std::int64_t>> what_stays(const std::vector<partition::Stack>& stacks) {
  std::vector<std::vector<std::int64_t>> stays;
  for (const partition::Stack& stack : stacks) {
    std::vector<std::vector<std::int64_t>> units;
    for (const partition::StackedUnit& unit : stack.units) units.push_back({unit.unit, unit.rows, unit.node});
    std::sort(units.begin(), units.end());
    std::vector<std::int64_t> column = {stack.columns};
    for (const auto& unit : units) column.insert(column.end(), unit.begin(), unit.end());
    stays.push_back(column);
  }
  std::sort(stays.begin(), stays.end());
  return stays;
}

}  // namespace steelyard::tests
