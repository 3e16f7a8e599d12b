#pragma once

#include <map>
#include <optional>
#include <vector>

#include "partition/algorithms.hpp"
#include "partition/time_profile.hpp"

namespace steelyard::partition {

/// Several processing units as one: its time for x computation units is the makespan of the inner distribution of x
/// over them. Whole sizes are distributed, once each; between two of them time is linear. A size that the inner
/// algorithm refuses (an even share that does not fit, no sum in a table) takes forever. Answers are remembered, so
/// that one thread at a time may ask. Source: 002, section 6.3 (two levels).
class GroupModel : public models::SpeedModel {
 public:
  /// @param units not owned; at least one
  /// @param total no more than this is ever asked for: bounds max_units()
  GroupModel(std::vector<const models::SpeedModel*> units, const Algorithm& inner, std::int64_t total);

  std::string kind() const override { return "group"; }
  /// In whole sizes: the sum of what the units do in that time, where all their times grow with size and the inner
  /// algorithm finds the least makespan; otherwise the largest that a search over the breakpoints finds.
  double units_within(double time_s) const override;
  /// The sizes at which, with equal times, some unit would be at one of its own breakpoints.
  std::vector<double> breakpoints() const override;
  bool is_known_to_grow() const override;

  /// The inner distribution. @throws InvalidArgument as the inner algorithm
  Distribution distribute(std::int64_t size) const { return inner_.distribute(size, units_); }
  Models units() const { return units_; }

 private:
  double fitted_speed(double units) const override;
  double makespan_s(std::int64_t size) const;

  std::vector<const models::SpeedModel*> units_;
  Algorithm inner_;
  mutable std::map<std::int64_t, double> makespans_s_;
  mutable std::optional<TimeProfile> profile_;
  mutable std::optional<bool> grows_;                       ///< is_known_to_grow()
  mutable std::optional<std::pair<double, double>> known_;  ///< the last time asked for, and the units within
};

struct HierarchicalDistribution {
  Distribution units;                ///< of all processing units, in their order
  std::vector<std::int64_t> groups;  ///< computation units of all groups, in the order of their numbers
};

/// Two levels: the outer algorithm distributes the total over groups of processing units, such as nodes, by GroupModel,
/// and the inner one each group's share within it. Groups whose units have the same models in the same order (see
/// same_model()) are one model to the outer algorithm, computed once, so that a cluster of identical hybrid nodes can
/// be given to popta(); a group of one is its unit's own model. Source: 002, section 6.3.
///
/// With algorithms of least makespan on both levels the makespan is the least of all distributions, whatever the groups
/// are: the longest of the groups' least times.
/// @param group_of_unit group number of every unit, as Nodes::node_of_rank for ranks
/// @throws InvalidArgument as require_feasible(), for another number of group numbers, and as the algorithms do
HierarchicalDistribution hierarchical(std::int64_t total, Models models, std::span<const int> group_of_unit,
                                      const Algorithm& outer, const Algorithm& inner);

/// Algorithm that is `algorithm` on both levels of hierarchical(). @param group_of_unit as there
Algorithm on_two_levels(const Algorithm& algorithm, std::vector<int> group_of_unit);

}  // namespace steelyard::partition
