#include "partition/balancing/slice_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::partition {

SearchRange search_range(std::int64_t total, const SearchOptions& options) {
  require_repetition(options.repetition);
  if (options.resolution < 1) {
    throw InvalidArgument(fmt::format("resolution of {} computation units (expected >= 1)", options.resolution));
  }
  const std::int64_t even = start_or_even(total, 2, {}, options.max_units).front();
  const models::ConstantModel first(1.0, options.max_units[0]);
  const models::ConstantModel second(1.0, options.max_units[1]);
  return {total - capacity(second, total), capacity(first, total), even};
}

namespace {

/// Ends a search with a distribution, as last measured.
Outcome ended_at(RepeatedMeasurement& measurement, const RepeatedMeasurement::Units& units, StopReason reason) {
  Distribution distribution{units, {}};
  for (const auto& point : measurement.of(units)) distribution.predicted_s.push_back(point.time_s);
  return {std::move(distribution), reason, measurement.count()};
}

/// Which of the two units takes longer, with `first` computation units for the first one.
enum class Longer { first, second, neither };

class EqualTimesSearch {
 public:
  EqualTimesSearch(std::int64_t total, const Measure& measure, const SearchOptions& options)
      : total_(total),
        range_(search_range(total, options)),
        resolution_(options.resolution),
        measurement_(measure, options.repetition),
        lower_(range_.least),
        upper_(range_.most) {}

  Outcome run() {
    if (total_ == 0) return {{{0, 0}, {0.0, 0.0}}, StopReason::balanced, 0};
    std::int64_t middle = range_.even;
    while (true) {
      while (upper_ - lower_ > resolution_) {
        if (measurement_.exhausted()) return closed(StopReason::measurement_limit);
        if (middle <= lower_ || middle >= upper_) middle = lower_ + (upper_ - lower_) / 2;
        switch (longer(middle)) {
          case Longer::first:
            upper_ = middle;
            break;
          case Longer::second:
            lower_ = middle;
            break;
          case Longer::neither:
            return indistinct(middle);
        }
      }
      // A wrong step leads to an end of the bracket that only that step's measurement speaks for.
      const std::int64_t end = doubtful_end();
      if (end < 0) return closed(StopReason::settled);
      if (longer(end) == Longer::neither) return indistinct(end);
      if (end == lower_ && longer(end) == Longer::first) reopen_below();
      if (end == upper_ && longer(end) == Longer::second) reopen_above();
    }
  }

 private:
  RepeatedMeasurement::Units line(std::int64_t first) const { return {first, total_ - first}; }

  Longer longer(std::int64_t first) {
    if (first == 0) return Longer::second;
    if (first == total_) return Longer::first;
    if (!measurement_.differ(line(first))) return Longer::neither;
    const auto& points = measurement_.of(line(first));
    return points[0].time_s > points[1].time_s ? Longer::first : Longer::second;
  }

  /// An end of the bracket whose times are uncertain and were measured afresh just now; -1 when there is none left.
  std::int64_t doubtful_end() {
    for (const std::int64_t end : {lower_, upper_}) {
      if (!measurement_.known(line(end)) || verified(end)) continue;
      const auto& points = measurement_.of(line(end));
      const bool uncertain = points[0].confidence_s > 0.0 || points[1].confidence_s > 0.0;
      if (!uncertain) continue;
      verified_.push_back(end);
      // Not merged with what led here, which may have been an outlier.
      if (measurement_.afresh(line(end))) return end;
    }
    return -1;
  }

  bool verified(std::int64_t end) const { return std::ranges::find(verified_, end) != verified_.end(); }

  /// The balance lies below the lower end: goes down in steps that double until the second unit takes longer.
  void reopen_below() {
    upper_ = lower_;
    for (std::int64_t step = 2 * resolution_; lower_ > range_.least; step *= 2) {
      lower_ = upper_ - std::min(step, upper_ - range_.least);
      if (measurement_.exhausted() || longer(lower_) != Longer::first) return;
      upper_ = lower_;
    }
  }

  void reopen_above() {
    lower_ = upper_;
    for (std::int64_t step = 2 * resolution_; upper_ < range_.most; step *= 2) {
      upper_ = lower_ + std::min(step, range_.most - lower_);
      if (measurement_.exhausted() || longer(upper_) != Longer::second) return;
      lower_ = upper_;
    }
  }

  Outcome indistinct(std::int64_t first) {
    const auto& points = measurement_.of(line(first));
    if (points[0].time_s == points[1].time_s) return outcome(first, StopReason::balanced);
    const bool all_measured = measurement_.exhausted();
    return outcome(first, all_measured ? StopReason::measurement_limit : StopReason::within_spread);
  }

  /// The faster end of the bracket; an end of the range may have to be measured for that.
  Outcome closed(StopReason reason) {
    const double lower_s = time_s(lower_);
    const double upper_s = time_s(upper_);
    return outcome(lower_s <= upper_s ? lower_ : upper_, reason);
  }

  double time_s(std::int64_t first) {
    if (!measurement_.known(line(first)) && measurement_.exhausted()) return std::numeric_limits<double>::infinity();
    return last_done(measurement_.of(line(first))).time_s;
  }

  Outcome outcome(std::int64_t first, StopReason reason) {
    const std::int64_t even = range_.even;
    if (measurement_.known(line(even)) &&
        clearly_longer(last_done(measurement_.of(line(first))), last_done(measurement_.of(line(even))))) {
      first = even;
      reason = StopReason::no_improvement;
    }
    return ended_at(measurement_, line(first), reason);
  }

  std::int64_t total_;
  SearchRange range_;
  std::int64_t resolution_;
  RepeatedMeasurement measurement_;
  std::int64_t lower_;  ///< here the second unit takes longer
  std::int64_t upper_;  ///< here the first one does
  std::vector<std::int64_t> verified_;
};

}  // namespace

Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options) {
  return EqualTimesSearch(total, measure, options).run();
}

namespace {

class IterationTimeSearch {
 public:
  IterationTimeSearch(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options)
      : total_(total),
        range_(search_range(total, options)),
        resolution_(options.resolution),
        measurement_(
            [&measure](std::span<const std::int64_t> units) {
              const models::MeasuredPoint iteration = measure(units);
              std::vector<models::MeasuredPoint> points(units.size(), iteration);
              for (std::size_t i = 0; i < units.size(); ++i) points[i].units = static_cast<double>(units[i]);
              return points;
            },
            options.repetition) {}

  Outcome run() {
    if (total_ == 0) return {{{0, 0}, {0.0, 0.0}}, StopReason::balanced, 0};
    visit(range_.even);
    std::int64_t lower = range_.least;
    std::int64_t upper = range_.most;
    while (upper - lower > std::max<std::int64_t>(2, resolution_)) {
      if (measurement_.left() < 2) return fastest(StopReason::measurement_limit);
      const std::int64_t third = (upper - lower) / 3;
      const std::int64_t left = lower + third;
      const std::int64_t right = upper - third;
      const int comparison = compare(left, right);
      if (comparison > 0) {
        lower = left + 1;
      } else if (comparison < 0) {
        upper = right - 1;
      } else if (same(left, right) || dips_between(left, right)) {
        lower = left;
        upper = right;
      } else {
        return fastest(measurement_.exhausted() ? StopReason::measurement_limit : StopReason::within_spread);
      }
    }
    const std::int64_t step = std::max<std::int64_t>(1, (upper - lower) / 2);
    for (std::int64_t first = lower; first <= upper; first += step) {
      if (!measurement_.known(line(first)) && measurement_.exhausted()) return fastest(StopReason::measurement_limit);
      visit(first);
    }
    return fastest(StopReason::settled);
  }

 private:
  RepeatedMeasurement::Units line(std::int64_t first) const { return {first, total_ - first}; }

  models::MeasuredPoint visit(std::int64_t first) {
    if (std::ranges::find(visited_, first) == visited_.end()) visited_.push_back(first);
    return last_done(measurement_.of(line(first)));
  }

  int compare(std::int64_t a, std::int64_t b) {
    visit(a);
    visit(b);
    return measurement_.compare(line(a), line(b));
  }

  /// Without any spread, a unimodal time that is the same at two lines has its minimum between them.
  bool same(std::int64_t left, std::int64_t right) {
    return visit(left).confidence_s == 0.0 && visit(right).confidence_s == 0.0;
  }

  bool dips_between(std::int64_t left, std::int64_t right) {
    const std::int64_t middle = left + (right - left) / 2;
    if (middle == left || measurement_.exhausted()) return false;
    return compare(middle, left) < 0 || compare(middle, right) < 0;
  }

  std::int64_t fastest_visited() {
    return *std::ranges::min_element(visited_, {}, [&](std::int64_t place) { return visit(place).time_s; });
  }

  Outcome fastest(StopReason reason) {
    // The least of many uncertain times is likely to be a lucky one: those that may be as fast are measured again.
    const std::int64_t lucky = fastest_visited();
    for (const std::int64_t place : visited_) {
      if (place != lucky) measurement_.compare(line(place), line(lucky));
    }
    return ended_at(measurement_, line(fastest_visited()), reason);
  }

  std::int64_t total_;
  SearchRange range_;
  std::int64_t resolution_;
  RepeatedMeasurement measurement_;
  std::vector<std::int64_t> visited_;
};

}  // namespace

Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options) {
  return IterationTimeSearch(total, measure, options).run();
}

}  // namespace steelyard::partition
