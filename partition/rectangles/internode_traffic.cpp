#include "partition/rectangles/internode_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "partition/rectangles/rectangle_neighbours.hpp"

namespace steelyard::partition {

std::int64_t internode_traffic(std::span<const Rectangle> rectangles, std::span<const int> node_of_unit) {
  if (rectangles.size() != node_of_unit.size()) {
    throw InvalidArgument(
        fmt::format("{} nodes for {} rectangles (expected as many)", node_of_unit.size(), rectangles.size()));
  }
  const std::vector<Contacts> contacts = edge_contacts(rectangles);
  std::int64_t traffic = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    // Left and above are the same edges seen from the other side.
    for (const std::vector<Overlap>* edge : {&contacts[i].below, &contacts[i].right}) {
      for (const Overlap& overlap : *edge) {
        if (node_of_unit[static_cast<std::size_t>(overlap.unit)] != node_of_unit[i]) traffic += overlap.count;
      }
    }
  }
  return traffic;
}

std::int64_t traffic_within(const Stack& stack) {
  std::int64_t boundaries = 0;
  for (std::size_t i = 1; i < stack.units.size(); ++i) {
    if (stack.units[i - 1].node != stack.units[i].node) ++boundaries;
  }
  return boundaries * stack.columns;
}

std::int64_t traffic_between(std::span<const StackedUnit> left, std::span<const StackedUnit> right) {
  std::int64_t traffic = 0;
  std::int64_t row = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  std::int64_t left_end = left.empty() ? 0 : left[0].rows;
  std::int64_t right_end = right.empty() ? 0 : right[0].rows;
  while (i < left.size() && j < right.size()) {
    const std::int64_t end = std::min(left_end, right_end);
    if (left[i].node != right[j].node) traffic += end - row;
    row = end;
    if (left_end == end && ++i < left.size()) left_end += left[i].rows;
    if (right_end == end && ++j < right.size()) right_end += right[j].rows;
  }
  return traffic;
}

std::int64_t internode_traffic(std::span<const Stack> stacks) {
  std::int64_t traffic = 0;
  for (std::size_t c = 0; c < stacks.size(); ++c) {
    traffic += traffic_within(stacks[c]);
    if (c > 0) traffic += traffic_between(stacks[c - 1].units, stacks[c].units);
  }
  return traffic;
}

}  // namespace steelyard::partition
