#pragma once

#include <span>
#include <vector>

#include "partition/rectangles/internode_traffic.hpp"

namespace steelyard::partition {

/// Steps of least_traffic_order(): 2^C (S_1 + … + S_C)^2 for C columns with S_j different orders of units each. Units
/// of the same node and height stand for one another.
double exact_steps(std::span<const Stack> stacks);

/// The least internode_traffic() of all orders of columns and of units in columns. Only neighbouring columns see each
/// other, so a dynamic programme over sets of columns, with the last column and its order as the state, finds it.
/// Deterministic: among equals the first in the order of the search.
std::vector<Stack> least_traffic_order(const std::vector<Stack>& stacks);

}  // namespace steelyard::partition
