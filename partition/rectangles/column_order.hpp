#pragma once

#include <span>

#include "partition/rectangles/column.hpp"

namespace steelyard::partition {

/// Steps that an exact search may take, about a hundredth of a second; enough for four columns of five units.
constexpr double exact_order_steps = 4194304.0;

/// Reorders columns, and units inside columns, so that internode_traffic() is
/// small. Every unit keeps its number of rows and columns, and with them its time and half-perimeter. Exact where
/// least_traffic_order() takes at most `most_steps`, otherwise by lessen_traffic(); never more traffic than before, and
/// the partition as it was where there is nothing to gain.
/// Source: 001, section 4.1 (Malik et al. as cited there move rectangles inside columns; columns are moved here as
/// well).
/// @throws InvalidArgument unless there is one node per unit
ColumnPartition order_by_node(const ColumnPartition& partition, std::span<const int> node_of_unit,
                              double most_steps = exact_order_steps);

}  // namespace steelyard::partition
