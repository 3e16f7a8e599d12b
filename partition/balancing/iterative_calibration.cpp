#include "partition/balancing/iterative_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/outcome.hpp"
#include "partition/geometric.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

Distribution proportional_to_throughput(std::int64_t total, std::span<const MeasuredPoint> points,
                                        std::span<const double> max_units) {
  std::vector<models::ConstantModel> constants;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].units > 0.0)) continue;
    constants.emplace_back(points[i].speed(),
                           max_units.empty() ? std::numeric_limits<double>::infinity() : max_units[i]);
    places.push_back(i);
  }
  std::vector<const models::SpeedModel*> pointers;
  for (const models::ConstantModel& constant : constants) pointers.push_back(&constant);
  const Distribution shares = geometric(total, pointers);
  Distribution distribution{std::vector<std::int64_t>(points.size(), 0), std::vector<double>(points.size(), 0.0)};
  for (std::size_t i = 0; i < places.size(); ++i) {
    distribution.units[places[i]] = shares.units[i];
    distribution.predicted_s[places[i]] = shares.predicted_s[i];
  }
  return distribution;
}

Outcome throughput_balance(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options) {
  if (!(options.eps >= 0.0)) throw InvalidArgument(fmt::format("eps {} (expected >= 0)", options.eps));
  RepeatedMeasurement measurement(measure, options.repetition);
  const std::vector<std::int64_t> start = start_or_even(total, unit_count, options.start, options.max_units);
  const auto outcome = [&](const std::vector<std::int64_t>& units, StopReason reason) {
    Distribution distribution{units, {}};
    for (const MeasuredPoint& point : measurement.of(units)) distribution.predicted_s.push_back(point.time_s);
    return Outcome{std::move(distribution), reason, measurement.count()};
  };
  if (total == 0) return {{start, std::vector<double>(unit_count, 0.0)}, StopReason::balanced, 0};

  if (measured_imbalance(measurement.of(start)) <= options.eps) return outcome(start, StopReason::balanced);
  if (!measurement.differ(start)) return outcome(start, StopReason::within_spread);
  const std::vector<std::int64_t> next =
      proportional_to_throughput(total, measurement.of(start), options.max_units).units;
  if (moved_share(start, next) <= options.eps) return outcome(start, StopReason::settled);
  if (measurement.exhausted()) return outcome(start, StopReason::measurement_limit);
  if (measurement.compare(start, next) < 0) return outcome(start, StopReason::no_improvement);
  return outcome(next, StopReason::single_step);
}

std::vector<std::int64_t> halfway(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  if (from.size() != to.size()) {
    throw InvalidArgument(fmt::format("{} slices and {} (expected as many)", from.size(), to.size()));
  }
  std::vector<std::int64_t> middle(from.begin(), from.end());
  std::int64_t balance = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t half = (to[i] - from[i]) / 2;
    middle[i] += half;
    balance += half;
  }
  // Rounding towards `from` may have taken more than it gave, or less: undone one by one, where something moved.
  for (std::size_t i = 0; i < from.size() && balance != 0; ++i) {
    const bool gave = balance > 0 && middle[i] > from[i];
    const bool took = balance < 0 && middle[i] < from[i];
    if (gave || took) {
      const std::int64_t step = gave ? std::min(balance, middle[i] - from[i]) : std::max(balance, middle[i] - from[i]);
      middle[i] -= step;
      balance -= step;
    }
  }
  return middle;
}

Outcome iterative_calibration(std::int64_t total, std::size_t unit_count, const Measure& measure,
                              const ThroughputOptions& options) {
  if (!(options.eps >= 0.0)) throw InvalidArgument(fmt::format("eps {} (expected >= 0)", options.eps));
  RepeatedMeasurement measurement(measure, options.repetition);
  std::vector<std::int64_t> best = start_or_even(total, unit_count, options.start, options.max_units);
  if (total == 0) return {{best, std::vector<double>(unit_count, 0.0)}, StopReason::balanced, 0};

  const auto outcome = [&](StopReason reason) {
    Distribution distribution{best, {}};
    for (const auto& point : measurement.of(best)) distribution.predicted_s.push_back(point.time_s);
    return Outcome{std::move(distribution), reason, measurement.count()};
  };
  while (true) {
    if (measured_imbalance(measurement.of(best)) <= options.eps) return outcome(StopReason::balanced);
    if (!measurement.differ(best)) return outcome(StopReason::within_spread);
    auto next = proportional_to_throughput(total, measurement.of(best), options.max_units).units;
    if (moved_share(best, next) <= options.eps) return outcome(StopReason::settled);
    if (measurement.exhausted()) return outcome(StopReason::measurement_limit);
    int comparison = measurement.compare(best, next);
    while (comparison < 0) {
      next = halfway(best, next);
      if (moved_share(best, next) <= options.eps) return outcome(StopReason::no_improvement);
      if (measurement.exhausted()) return outcome(StopReason::measurement_limit);
      comparison = measurement.compare(best, next);
    }
    if (comparison == 0) {
      if (last_done(measurement.of(next)).time_s < last_done(measurement.of(best)).time_s) best = std::move(next);
      return outcome(StopReason::within_spread);
    }
    best = std::move(next);
  }
}

}  // namespace steelyard::partition
