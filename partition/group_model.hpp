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
  /// In whole sizes: the largest that a search over the breakpoints finds.
  double units_within(double time_s) const override;
  /// The sizes at which, with equal times, some unit would be at one of its own breakpoints.
  std::vector<double> breakpoints() const override;

  /// The inner distribution. @throws InvalidArgument as the inner algorithm
  Distribution distribute(std::int64_t size) const { return inner_.distribute(size, units_); }
  Models units() const { return units_; }

 private:
  double fitted_speed(double units) const override;
  void refit() override {}
  double makespan_s(std::int64_t size) const;

  std::vector<const models::SpeedModel*> units_;
  Algorithm inner_;
  mutable std::map<std::int64_t, double> makespans_s_;
  mutable std::optional<TimeProfile> profile_;
};

}  // namespace steelyard::partition
