#include "partition/balancing/iterative_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

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
