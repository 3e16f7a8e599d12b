#pragma once

#include "partition/algorithms.hpp"

namespace steelyard::partition {

struct HierarchicalDistribution {
  Distribution units;   ///< of all processing units, in their order
  Distribution groups;  ///< of all groups, in the order of their numbers; a group is as slow as its slowest unit
};

/// Two levels: the outer algorithm distributes the total over groups of processing units, such as nodes, by GroupModel,
/// and the inner one each group's share within it. Groups whose units have the same models in the same order (see
/// same_model()) are one model to the outer algorithm, computed once, so that a cluster of identical hybrid nodes can
/// be given to popta(); a group of one is its unit's own model. Source: 002, section 6.3.
///
/// With algorithms of least makespan on both levels the makespan is the least of all distributions, whatever the groups
/// are: the longest of the groups' least times.
/// @param group_of_unit group number of every unit, from 0 and without gaps, as Nodes::node_of_rank for ranks
/// @throws InvalidArgument as require_feasible(), for group numbers as above, and as the algorithms do
HierarchicalDistribution hierarchical(std::int64_t total, Models models, std::span<const int> group_of_unit,
                                      const Algorithm& outer, const Algorithm& inner);

}  // namespace steelyard::partition
