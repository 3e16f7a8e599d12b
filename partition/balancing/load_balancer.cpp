#include "partition/balancing/load_balancer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

std::string to_string(BalancingDecision decision) {
  switch (decision) {
    case BalancingDecision::measuring:
      return "measuring";
    case BalancingDecision::balanced:
      return "all units take equally long";
    case BalancingDecision::within_spread:
      return "differences are within the measurements' spread";
    case BalancingDecision::settled:
      return "no better distribution is known";
    case BalancingDecision::not_worth_it:
      return "redistributing costs more than it gains";
    case BalancingDecision::repartitioned:
      return "repartitioned";
  }
  return "unknown";
}

LoadBalancer::LoadBalancer(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
                           LoadBalancerOptions options)
    : total_(total),
      algorithm_(algorithm),
      options_(std::move(options)),
      models_(unit_count, options_.max_units, options_.model_kind),
      current_(models_.predict(start_or_even(total, unit_count, options_.start, options_.max_units))),
      samples_(unit_count),
      idle_(unit_count, 0),
      patience_(unit_count, options_.idle_windows) {
  if (options_.window < 1 || options_.settling < 0 || options_.idle_windows < 1 || options_.most_points < 1) {
    throw InvalidArgument(
        fmt::format("window of {} iterations after {}, probes after {} windows, {} points "
                    "(expected >= 1, settling >= 0)",
                    options_.window, options_.settling, options_.idle_windows, options_.most_points));
  }
  if (!(options_.eps >= 0.0 && options_.redistribution_s >= 0.0 && options_.redistribution_s_per_unit >= 0.0)) {
    throw InvalidArgument(fmt::format("eps {}, redistribution {} s and {} s a unit (expected >= 0)", options_.eps,
                                      options_.redistribution_s, options_.redistribution_s_per_unit));
  }
  if (!(options_.level > 0.0 && options_.level < 1.0)) {
    throw InvalidArgument(fmt::format("confidence level {} (expected between 0 and 1)", options_.level));
  }
}

BalancingDecision LoadBalancer::record(std::span<const double> time_s, double remaining_iterations) {
  if (time_s.size() != models_.size()) {
    throw InvalidArgument(
        fmt::format("{} times of {} processing units (expected one each)", time_s.size(), models_.size()));
  }
  if (!(remaining_iterations >= 0.0)) {
    throw InvalidArgument(fmt::format("{} iterations to come (expected a number >= 0)", remaining_iterations));
  }
  for (std::size_t i = 0; i < time_s.size(); ++i) {
    if (current_.units[i] > 0 && !(time_s[i] > 0.0 && std::isfinite(time_s[i]))) {
      throw InvalidArgument(fmt::format("unit {} took {} s (expected a finite time > 0)", i, time_s[i]));
    }
  }
  if (total_ == 0) return BalancingDecision::balanced;
  if (skip_ > 0) {
    --skip_;
    return BalancingDecision::measuring;
  }
  int iterations = 0;
  for (std::size_t i = 0; i < time_s.size(); ++i) {
    if (current_.units[i] > 0) samples_[i].push_back(time_s[i]);
    iterations = std::max(iterations, static_cast<int>(samples_[i].size()));
  }
  if (iterations < options_.window) return BalancingDecision::measuring;

  std::vector<MeasuredPoint> points(time_s.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (current_.units[i] > 0) points[i] = point_of_sample(current_.units[i], samples_[i], options_.level);
    samples_[i].clear();
  }
  learn(points);
  return decide(points, remaining_iterations);
}

void LoadBalancer::learn(std::span<const MeasuredPoint> points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (current_.units[i] > 0) {
      speed_changes_ += models_.renew(i, points[i], options_.most_points) ? 1 : 0;
      idle_[i] = 0;
    } else if (++idle_[i] >= patience_[i]) {
      // What was known of it is old; but one that is left out again and again is asked less and less often.
      models_.forget(i);
      idle_[i] = 0;
      patience_[i] = std::min(2 * patience_[i], 1 << 20);
    }
  }
}

double LoadBalancer::cost_s(std::span<const std::int64_t> next) const {
  return options_.redistribution_s +
         options_.redistribution_s_per_unit * moved_share(current_.units, next) * static_cast<double>(total_);
}

bool LoadBalancer::worth_a_probe(double longest_s, double remaining_iterations) const {
  const std::vector<std::size_t> unknown = models_.unknown();
  if (unknown.empty()) return false;
  // At best they are as fast as the others, and then the data has to move twice: for the probe and for the result.
  const double gain_s = longest_s * static_cast<double>(unknown.size()) / static_cast<double>(models_.size());
  return gain_s * remaining_iterations > 2.0 * cost_s(models_.distribute_and_probe(total_, algorithm_));
}

BalancingDecision LoadBalancer::decide(std::span<const MeasuredPoint> points, double remaining_iterations) {
  const MeasuredPoint last = last_done(points);
  if (remaining_iterations > 0.0 && worth_a_probe(last.time_s, remaining_iterations)) {
    return adopt(models_.distribute_and_probe(total_, algorithm_));
  }
  if (measured_imbalance(points) <= options_.eps && std::ranges::count(current_.units, 0) == 0) {
    return BalancingDecision::balanced;
  }
  if (clear_difference_s(points) <= 0.0 && std::ranges::count(current_.units, total_) == 0) {
    return BalancingDecision::within_spread;
  }
  std::vector<std::int64_t> next = models_.distribute(total_, algorithm_);
  if (next == current_.units) return BalancingDecision::settled;
  const double gain_s = last.time_s - last.confidence_s - models_.predict(next).makespan_s();
  if (!(gain_s > 0.0)) return BalancingDecision::settled;
  if (!(gain_s * remaining_iterations > cost_s(next))) return BalancingDecision::not_worth_it;
  return adopt(std::move(next));
}

BalancingDecision LoadBalancer::adopt(std::vector<std::int64_t> next) {
  current_ = models_.predict(std::move(next));
  skip_ = options_.settling;
  ++repartitions_;
  return BalancingDecision::repartitioned;
}

}  // namespace steelyard::partition
