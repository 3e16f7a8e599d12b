#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "partition/algorithms.hpp"
#include "partition/balancing/outcome.hpp"
#include "partition/balancing/partial_models.hpp"

namespace steelyard::partition {

/// When a running application is worth repartitioning.
struct LoadBalancerOptions {
  int window = 5;                 ///< iterations behind a decision; 1 believes every time as it is, as Fupermod does
  int settling = 1;               ///< iterations after a change of the distribution that do not count: cold caches
  double level = 0.95;            ///< of the window's confidence intervals
  double eps = 0.01;              ///< imbalance that is left alone
  double redistribution_s = 0.0;  ///< what any change of the distribution costs
  double redistribution_s_per_unit = 0.0;  ///< and, on top, each computation unit that changes hands
  std::size_t most_points = 8;             ///< of a partial model; the oldest are forgotten
  int idle_windows = 20;  ///< after which a unit without work gets a probe, if worth it; doubles with every one
  std::string model_kind = "piecewise_linear";
  std::vector<std::int64_t> start;  ///< empty: even
  std::vector<double> max_units;    ///< the most that each unit holds; empty: no limits
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

std::string to_string(BalancingDecision decision);

/// Balances an iterative application by the times of its own iterations, which feed the partial models: repartitions
/// where the units' times differ by more than their spread and where
///   (measured time of the last unit - its half width - predicted time of the last unit) remaining iterations > cost.
/// The newest times are believed: what they disprove is forgotten, so that the balance follows units that change their
/// speed. Source: 000, section 6.1.5 (fupermod_balancer_iterate).
class LoadBalancer {
 public:
  /// @throws InvalidArgument for a total that does not fit, no units, or options out of range
  LoadBalancer(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
               LoadBalancerOptions options = {});

  /// How the application's data is to be distributed. Predictions are NaN where nothing was measured yet.
  const Distribution& current() const { return current_; }
  /// After each iteration: the seconds of every unit's own work in it (those of units without work do not count), and
  /// how many iterations are still to come; infinity where nobody knows.
  /// @throws InvalidArgument for another number of units, times that are not finite and > 0, or a negative or NaN
  /// number of iterations
  BalancingDecision record(std::span<const double> time_s,
                           double remaining_iterations = std::numeric_limits<double>::infinity());

  int repartitions() const { return repartitions_; }
  /// How often a unit was found to have changed its speed.
  int speed_changes() const { return speed_changes_; }
  const PartialModels& models() const { return models_; }

 private:
  BalancingDecision decide(std::span<const models::MeasuredPoint> points, double remaining_iterations);
  void learn(std::span<const models::MeasuredPoint> points);
  bool worth_a_probe(double longest_s, double remaining_iterations) const;
  double cost_s(std::span<const std::int64_t> next) const;
  BalancingDecision adopt(std::vector<std::int64_t> next);

  std::int64_t total_;
  Algorithm algorithm_;
  LoadBalancerOptions options_;
  PartialModels models_;
  Distribution current_;
  std::vector<std::vector<double>> samples_;  ///< of each unit, in the current window
  int skip_ = 0;                              ///< iterations until the window begins
  std::vector<int> idle_;                     ///< windows that each unit had no work
  std::vector<int> patience_;                 ///< windows after which it gets a probe
  int repartitions_ = 0;
  int speed_changes_ = 0;
};

}  // namespace steelyard::partition
