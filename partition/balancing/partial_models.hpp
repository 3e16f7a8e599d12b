#pragma once

#include <cstdint>
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

  /// Adds what a steady kernel took. Rounds of one size are merged; other points whose distance from this one is less
  /// than what the intervals of both allow would say nothing but noise of the slope, and are dropped.
  void merge(std::size_t unit, const models::MeasuredPoint& point, double level);

  /// Adds what a kernel takes now, and forgets what that disproves. Where the interval of the same size was another,
  /// the unit has changed its speed: all older points go, and true is returned. Otherwise the point replaces the one of
  /// its size (unless its interval encloses that one's and so says less), and points that would mean less time for more
  /// work go, and the oldest beyond `most_points`.
  bool renew(std::size_t unit, const models::MeasuredPoint& point, std::size_t most_points);
  void forget(std::size_t unit) { entries_[unit].clear(); }

  std::size_t size() const { return entries_.size(); }
  std::vector<models::MeasuredPoint> points(std::size_t unit) const;
  /// All rounds of one size. @throws InvalidArgument where there are none
  const models::MeasuredPoint& at(std::size_t unit, std::int64_t units) const;
  /// Units that have no point but could hold work.
  std::vector<std::size_t> unknown() const;

  /// Predictions where there are models: NaN for work on a unit without points.
  Distribution predict(std::vector<std::int64_t> units) const;
  /// What the algorithm makes of the models. Units without a point get nothing, or with `probe` a sixteenth of the even
  /// share (at least 1) as far as there is work, so that they can be measured; the others share what is left.
  std::vector<std::int64_t> distribute(std::int64_t total, const Algorithm& algorithm, bool probe) const;
  /// Gives 1 computation unit, the largest slices' last ones, to units that would get none although they never ran less
  /// than 2: whether they are worth anything at small sizes nobody knows.
  void give_smallest(std::vector<std::int64_t>& units) const;

 private:
  struct Entry {
    models::MeasuredPoint point;                ///< what the rounds say together
    std::vector<models::MeasuredPoint> rounds;  ///< in the order they were measured
    std::int64_t age = 0;                       ///< higher is newer
  };
  bool holds_any(std::size_t unit) const { return max_units_[unit] >= 1.0; }
  models::SpeedModelPtr model(std::size_t unit) const;

  std::vector<std::vector<Entry>> entries_;  ///< of each unit, by size
  std::vector<double> max_units_;
  std::string kind_;
  std::int64_t clock_ = 0;
};

}  // namespace steelyard::partition
