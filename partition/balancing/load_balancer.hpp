#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "models/measured_point.hpp"
#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Partial functional performance models: the few points of each processing unit that were measured where distributions
/// came to lie, s'_i(x) ~ s_i(x) there and nowhere else. A value: models are fitted when asked for.
/// Source: 000, section 2.4.2.
class PartialModels {
 public:
  /// @param algorithm distributes by models of its kind, one that answers for every size
  /// @throws InvalidArgument for no units and an unknown kind
  PartialModels(std::size_t unit_count, Algorithm algorithm);

  /// Adds what a kernel takes now, and forgets what that disproves. Where the interval of the same size was another,
  /// the unit has changed its speed: all older points go. Otherwise the point replaces the one of its size (unless its
  /// interval encloses that one's and so says less). Points go that would mean less time for more work, or whose
  /// distance from this one is less than what the intervals of both allow (and than 5 %), which would say nothing but
  /// noise of the slope; and the oldest of more than eight.
  void renew(std::size_t unit, const models::MeasuredPoint& point);
  void forget(std::size_t unit) { entries_[unit].clear(); }

  /// Units that have no point.
  std::ptrdiff_t unknown() const;

  /// Predictions where there are models: NaN for work on a unit without points.
  Distribution predict(std::vector<std::int64_t> units) const;
  /// Units without a point get `probe` as long as there is enough; one at least has some. Where `probe` is above 0,
  /// unknown sizes are measured: units whose slice would be below their smallest measured size get 1 where the models'
  /// constant speed below it leads astray, for they would get nothing, or their time fell by less than half as much as
  /// their size, as with an overhead. The others share what is left.
  std::vector<std::int64_t> distribute(std::int64_t total, std::int64_t probe) const;

 private:
  struct Entry {
    models::MeasuredPoint point;
    std::int64_t age = 0;  ///< higher is newer
  };
  bool doubtful_below(std::size_t unit, std::int64_t slice) const;
  models::SpeedModelPtr model(std::size_t unit) const;
  /// Slices of `fixed` that are not negative stay, the others share the rest; nothing where there are no others.
  std::optional<std::vector<std::int64_t>> distribute_rest(std::int64_t total,
                                                           const std::vector<std::int64_t>& fixed) const;

  Algorithm algorithm_;
  std::vector<std::vector<Entry>> entries_;  ///< of each unit, by size
  std::int64_t clock_ = 0;
};

/// When a running application is worth repartitioning.
struct LoadBalancerOptions {
  int window = 5;                   ///< iterations behind a decision; 1 believes every time as it is, as Fupermod does
  double eps = 0.01;                ///< imbalance that is left alone
  double redistribution_s = 0.0;    ///< what any change of the distribution costs
  std::vector<std::int64_t> start;  ///< empty: even
};

/// Decision after an iteration.
enum class BalancingDecision {
  measuring,      ///< the window is not full yet
  balanced,       ///< the units take equally long, within eps
  within_spread,  ///< their difference is within the window's spread
  settled,        ///< the models know no better distribution
  not_worth_it,   ///< the gain over the remaining iterations is less than the cost of redistributing
  repartitioned,  ///< current() has changed: redistribute the data before the next iteration
};

/// Balances an iterative application by the times of its own iterations, which feed the partial models: repartitions
/// where the units' times differ by more than their spread and where
///   (measured time of the last unit - its half width - predicted time of the last unit) remaining iterations > cost.
/// The newest times are believed: what they disprove is forgotten, so that the balance follows units that change their
/// speed. Source: 000, section 6.1.5 (fupermod_balancer_iterate).
class LoadBalancer {
 public:
  /// @param algorithm distributes by the partial models, of its kind
  /// @throws InvalidArgument for a negative total, no units, options out of range, or a start that is no distribution
  LoadBalancer(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
               LoadBalancerOptions options = {});

  /// How the application's data is to be distributed. Predictions are NaN where nothing was measured yet.
  const Distribution& current() const { return current_; }
  /// After each iteration: the seconds of every unit's own work in it (those of units without work do not count), and
  /// how many iterations are still to come; infinity where that is unknown.
  /// @throws InvalidArgument for another number of units, times that are not finite and > 0, or a negative or NaN
  /// number of iterations
  BalancingDecision record(std::span<const double> time_s,
                           double remaining_iterations = std::numeric_limits<double>::infinity());

  int repartitions() const { return repartitions_; }

 private:
  BalancingDecision decide(std::span<const models::MeasuredPoint> points, double remaining_iterations);
  BalancingDecision adopt(std::vector<std::int64_t> next);

  std::int64_t total_;
  LoadBalancerOptions options_;
  PartialModels models_;
  Distribution current_;
  std::vector<std::vector<double>> samples_;  ///< of each unit, in the current window
  int skip_ = 0;                              ///< iterations until the window begins
  std::vector<int> idle_;                     ///< windows that each unit had no work
  std::vector<int> patience_;                 ///< windows after which it gets a probe
  int repartitions_ = 0;
};

}  // namespace steelyard::partition
