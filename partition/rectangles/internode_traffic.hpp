#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::partition {

/// Blocks along the edges where rectangles of different nodes touch, each edge counted once: what a stencil sends
/// between nodes per step, in each direction. In O(p^2). Source: 001, sections 4.1 (the rearrangements of Malik et al.
/// as cited there) and 4.2.
/// @param node_of_unit one number per rectangle, equal for the units of a node (see steelyard::Nodes)
/// @throws InvalidArgument unless there is one node per rectangle
std::int64_t internode_traffic(std::span<const Rectangle> rectangles, std::span<const int> node_of_unit);

/// Facts about a unit that do not depend on its place in the column.
struct StackedUnit {
  int unit = -1;
  std::int64_t rows = 0;
  int node = 0;
};

/// A column as far as its place in the matrix and the order of its units do not matter.
struct Stack {
  std::int64_t columns = 0;
  std::vector<StackedUnit> units;  ///< from top to bottom
};

/// The part of internode_traffic() inside a column: its width for every two units of different nodes, one on the other.
std::int64_t traffic_within(const Stack& stack);

/// The part between two columns side by side, given their units from top to bottom. O(number of units).
std::int64_t traffic_between(std::span<const StackedUnit> left, std::span<const StackedUnit> right);

/// internode_traffic() of columns from left to right. O(p).
std::int64_t internode_traffic(std::span<const Stack> stacks);

}  // namespace steelyard::partition
