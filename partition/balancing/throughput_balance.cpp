#include "partition/balancing/throughput_balance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/spread.hpp"
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

}  // namespace steelyard::partition
