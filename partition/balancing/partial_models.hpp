#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::partition {

/// Partial functional performance models: the few points of each processing unit that were measured where distributions
/// came to lie, s'_i(x) ~ s_i(x) there and nowhere else. A value: models are fitted when asked for.
/// Source: 000, section 2.4.2.
class PartialModels {
 public:
  /// @param kind how points become a model, see models::find_model_kind(); one that answers for every size
  /// @param max_units the most that each unit holds; empty: no limits
  /// @throws InvalidArgument for no units, another number of limits, or an unknown kind
  PartialModels(std::size_t unit_count, std::vector<double> max_units = {},
                const std::string& kind = "piecewise_linear");

  /// Adds what a kernel takes now, and forgets what that disproves. Where the interval of the same size was another,
  /// the unit has changed its speed: all older points go, and true is returned. Otherwise the point replaces the one of
  /// its size (unless its interval encloses that one's and so says less). Points go that would mean less time for more
  /// work, or whose distance from this one is less than what the intervals of both allow (and than 5 %), which would
  /// say nothing but noise of the slope; and the oldest beyond `most_points`.
  bool renew(std::size_t unit, const models::MeasuredPoint& point, std::size_t most_points);
  void forget(std::size_t unit) { entries_[unit].clear(); }

  std::size_t size() const { return entries_.size(); }
  std::vector<models::MeasuredPoint> points(std::size_t unit) const;
  /// Units that have no point but could hold work.
  std::vector<std::size_t> unknown() const;

  /// Predictions where there are models: NaN for work on a unit without points.
  Distribution predict(std::vector<std::int64_t> units) const;
  /// Distributes by the algorithm. Units without a point get nothing.
  std::vector<std::int64_t> distribute(std::int64_t total, const Algorithm& algorithm) const;
  /// Distributes such that unknown sizes are measured. Units without a point get a sixteenth of the even share, at
  /// least 1. Units whose slice would be below their smallest measured size get 1 where the models' constant speed
  /// below it leads astray: they would get nothing, or their time fell by less than half as much as their size, as
  /// with an overhead. The others share what is left, if they can hold it.
  std::vector<std::int64_t> distribute_and_probe(std::int64_t total, const Algorithm& algorithm) const;

 private:
  struct Entry {
    models::MeasuredPoint point;
    std::int64_t age = 0;  ///< higher is newer
  };
  bool holds_any(std::size_t unit) const { return max_units_[unit] >= 1.0; }
  bool doubtful_below(std::size_t unit, std::int64_t slice) const;
  models::SpeedModelPtr model(std::size_t unit) const;
  /// `fixed` slices are left as they are where they are not negative; nothing when the others cannot hold the rest.
  std::optional<std::vector<std::int64_t>> distribute_rest(std::int64_t total, const Algorithm& algorithm,
                                                           std::span<const std::int64_t> fixed) const;

  std::vector<std::vector<Entry>> entries_;  ///< of each unit, by size
  std::vector<double> max_units_;
  std::string kind_;
  std::int64_t clock_ = 0;
};

}  // namespace steelyard::partition
