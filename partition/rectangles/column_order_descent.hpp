#pragma once

#include <vector>

#include "partition/rectangles/internode_traffic.hpp"

namespace steelyard::partition {

/// Less internode_traffic(), or the same order where none of the steps below gains anything. From the given order, and
/// from one where each column is grouped by node, it repeats as long as something is gained: reorder one column between
/// its neighbours as they stand (exactly up to ten units, by a dynamic programme over sets of units; beyond by moving
/// and swapping units), and move or swap whole columns. Deterministic; a local minimum, not the least of all.
std::vector<Stack> lessen_traffic(const std::vector<Stack>& stacks);

}  // namespace steelyard::partition
