#include "partition/balancing/dynamic.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/errors.hpp"
#include "partition/balancing/repeated_measurement.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

DynamicPartitioner::DynamicPartitioner(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
                                       DynamicOptions options)
    : total_(total),
      algorithm_(&algorithm),
      options_(std::move(options)),
      models_(unit_count, options_.max_units, options_.model_kind),
      current_(models_.predict(start_or_even(total, unit_count, options_.start, options_.max_units))) {
  if (!(options_.eps >= 0.0)) throw InvalidArgument(fmt::format("eps {} (expected >= 0)", options_.eps));
  require_repetition({1, options_.most_rounds, options_.most_measurements, options_.level});
  if (total == 0) reason_ = StopReason::balanced;
}

bool DynamicPartitioner::end(StopReason reason) {
  reason_ = reason;
  current_ = models_.predict(best_);
  return false;
}

std::optional<std::vector<std::int64_t>> DynamicPartitioner::fill_idle(std::span<const MeasuredPoint> points) const {
  const MeasuredPoint last = last_done(points);
  std::size_t idle = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool more_idle = points[idle].units == 0.0 || points[i].time_s < points[idle].time_s;
    if (points[i].units > 0.0 && more_idle) idle = i;
  }
  const bool waits = points[idle].time_s < (1.0 - options_.eps) * last.time_s && clearly_longer(last, points[idle]);
  if (!waits) return std::nullopt;
  return models_.distribute_and_fill(total_, *algorithm_, idle, current_.units[idle], last.time_s);
}

bool DynamicPartitioner::step(std::span<const MeasuredPoint> points) {
  if (reason_ != StopReason::running) {
    throw InvalidArgument(fmt::format("a step after the end of dynamic partitioning ({})", to_string(reason_)));
  }
  require_measured(current_.units, points);
  ++measurements_;
  const int round = ++rounds_[current_.units];
  std::vector<MeasuredPoint> merged(points.begin(), points.end());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (current_.units[i] == 0) {
      merged[i] = {};
      continue;
    }
    models_.merge(i, points[i], options_.level);
    merged[i] = models_.at(i, current_.units[i]);
  }
  const double longest_s = last_done(merged).time_s;
  if (best_.empty() || longest_s <= best_s_ || best_ == current_.units) {
    best_ = current_.units;
    best_s_ = longest_s;
  }
  const bool all_known = models_.unknown().empty();
  if (all_known) {
    if (measured_imbalance(merged) <= options_.eps) return end(StopReason::balanced);
    if (clear_difference_s(merged) <= 0.0 && round >= options_.most_rounds) return end(StopReason::within_spread);
  }
  if (measurements_ >= options_.most_measurements) return end(StopReason::measurement_limit);
  if (all_known && clear_difference_s(merged) <= 0.0) return true;

  std::vector<std::int64_t> next = models_.distribute_and_probe(total_, *algorithm_);
  Distribution predicted = models_.predict(std::move(next));
  // A slice of little work may still take long: small changes are settled only where they gain little, too.
  const bool settled =
      current_.units == predicted.units || (all_known && moved_share(current_.units, predicted.units) <= options_.eps &&
                                            longest_s - predicted.makespan_s() <= options_.eps * longest_s);
  if (settled) {
    auto filled = fill_idle(merged);
    if (!filled || rounds_.contains(*filled)) return end(StopReason::settled);
    predicted = models_.predict(std::move(*filled));
  }
  if (const auto before = rounds_.find(predicted.units);
      before != rounds_.end() && before->second >= options_.most_rounds) {
    return end(StopReason::cycle);
  }
  current_ = std::move(predicted);
  return true;
}

Outcome dynamic(std::int64_t total, std::size_t unit_count, const Measure& measure, const Algorithm& algorithm,
                DynamicOptions options) {
  DynamicPartitioner partitioner(total, unit_count, algorithm, std::move(options));
  while (partitioner.reason() == StopReason::running) partitioner.step(measure(partitioner.current().units));
  return {partitioner.current(), partitioner.reason(), partitioner.measurements()};
}

}  // namespace steelyard::partition
