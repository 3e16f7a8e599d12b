#include "partition/balancing/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::partition {
namespace {

using Slices = RepeatedMeasurement::Units;

/// The dividing line between two units.
class LineSearch {
 public:
  LineSearch(std::int64_t total, Measure measure, const SearchOptions& options)
      : total_(total),
        even_(even_slices(total, 2).front()),
        resolution_(options.resolution),
        measurement_(std::move(measure), options.repetition) {
    if (resolution_ < 1) {
      throw InvalidArgument(fmt::format("resolution of {} computation units (expected >= 1)", resolution_));
    }
  }

 protected:
  /// Slices with `first` computation units for the first unit.
  Slices line(std::int64_t first) const { return {first, total_ - first}; }
  models::MeasuredPoint last(std::int64_t first) { return last_done(measurement_.of(line(first))); }
  bool can_be_measured(std::int64_t first) const {
    return measurement_.known(line(first)) || !measurement_.exhausted();
  }

  std::int64_t total_;
  std::int64_t even_;
  std::int64_t resolution_;
  RepeatedMeasurement measurement_;
};

class EqualTimesSearch : LineSearch {
 public:
  using LineSearch::LineSearch;

  Outcome run() {
    std::int64_t middle = even_;
    while (true) {
      while (upper_ - lower_ > resolution_) {
        if (measurement_.exhausted()) return closed(StopReason::measurement_limit);
        if (middle <= lower_ || middle >= upper_) middle = lower_ + (upper_ - lower_) / 2;
        const int longer = compare_units(middle);
        if (longer == 0) return indistinct(middle);
        (longer > 0 ? upper_ : lower_) = middle;
      }
      // A wrong step leads to an end of the bracket that only that step's measurement speaks for.
      const std::int64_t end = doubtful_end();
      if (end < 0) return closed(StopReason::settled);
      const int longer = compare_units(end);
      if (longer == 0) return indistinct(end);
      if ((end == lower_) == (longer > 0)) reopen(longer);
    }
  }

 private:
  /// Positive where the first unit takes longer, negative where the second one does, 0 where they cannot be told apart.
  int compare_units(std::int64_t first) {
    if (first == 0) return -1;
    if (first == total_) return 1;
    if (!measurement_.differ(line(first))) return 0;
    const auto& points = measurement_.of(line(first));
    return points[0].time_s > points[1].time_s ? 1 : -1;
  }

  /// An end of the bracket whose times are uncertain and were measured afresh just now; -1 when there is none left.
  std::int64_t doubtful_end() {
    for (const std::int64_t end : {lower_, upper_}) {
      if (!measurement_.known(line(end)) || verified_.contains(end)) continue;
      const auto& points = measurement_.of(line(end));
      if (points[0].confidence_s == 0.0 && points[1].confidence_s == 0.0) continue;
      verified_.insert(end);
      // Not merged with what led here, which may have been an outlier.
      if (measurement_.afresh(line(end))) return end;
    }
    return -1;
  }

  /// The balance lies beyond the lower end, where the first unit still takes longer, or beyond the upper one, where the
  /// second one does: moves it in steps that double until it does not.
  void reopen(int longer) {
    std::int64_t& end = longer > 0 ? lower_ : upper_;
    std::int64_t& other = longer > 0 ? upper_ : lower_;
    other = end;
    for (std::int64_t step = 2 * resolution_; end != (longer > 0 ? 0 : total_); step *= 2) {
      end = longer > 0 ? other - std::min(step, other) : other + std::min(step, total_ - other);
      if (measurement_.exhausted() || compare_units(end) != longer) return;
      other = end;
    }
  }

  Outcome indistinct(std::int64_t first) {
    const auto& points = measurement_.of(line(first));
    if (points[0].time_s == points[1].time_s) return outcome(first, StopReason::balanced);
    return outcome(first, measurement_.exhausted() ? StopReason::measurement_limit : StopReason::within_spread);
  }

  /// The faster end of the bracket; an end of the range may have to be measured for that.
  Outcome closed(StopReason reason) {
    const auto time_s = [&](std::int64_t first) {
      return can_be_measured(first) ? last(first).time_s : std::numeric_limits<double>::infinity();
    };
    const double lower_s = time_s(lower_);
    const double upper_s = time_s(upper_);
    return outcome(lower_s <= upper_s ? lower_ : upper_, reason);
  }

  Outcome outcome(std::int64_t first, StopReason reason) {
    if (!measurement_.known(line(even_)) || !clearly_longer(last(first), last(even_))) {
      return measurement_.outcome(line(first), reason);
    }
    return measurement_.outcome(line(even_), StopReason::no_improvement);
  }

  std::int64_t lower_ = 0;       ///< here the second unit takes longer
  std::int64_t upper_ = total_;  ///< here the first one does
  std::set<std::int64_t> verified_;
};

class IterationTimeSearch : LineSearch {
 public:
  using LineSearch::LineSearch;

  Outcome run() {
    visit(even_);
    std::int64_t lower = 0;
    std::int64_t upper = total_;
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
      if (!can_be_measured(first)) return fastest(StopReason::measurement_limit);
      visit(first);
    }
    return fastest(StopReason::settled);
  }

 private:
  models::MeasuredPoint visit(std::int64_t first) {
    if (std::ranges::find(visited_, first) == visited_.end()) visited_.push_back(first);
    return last(first);
  }

  int compare(std::int64_t a, std::int64_t b) {
    visit(a);
    visit(b);
    return measurement_.compare(line(a), line(b));
  }

  /// Without any spread, a unimodal time that is the same at two lines has its minimum between them.
  bool same(std::int64_t left, std::int64_t right) {
    return last(left).confidence_s == 0.0 && last(right).confidence_s == 0.0;
  }

  bool dips_between(std::int64_t left, std::int64_t right) {
    const std::int64_t middle = left + (right - left) / 2;
    if (middle == left || measurement_.exhausted()) return false;
    return compare(middle, left) < 0 || compare(middle, right) < 0;
  }

  std::int64_t fastest_visited() {
    return *std::ranges::min_element(visited_, {}, [&](std::int64_t first) { return last(first).time_s; });
  }

  Outcome fastest(StopReason reason) {
    // The least of many uncertain times is likely to be a lucky one: those that may be as fast are measured again.
    const std::int64_t lucky = fastest_visited();
    for (const std::int64_t first : visited_) {
      if (first != lucky) measurement_.compare(line(first), line(lucky));
    }
    return measurement_.outcome(line(fastest_visited()), reason);
  }

  std::vector<std::int64_t> visited_;
};

/// Share of the total that changes hands: sum |after_i - before_i| / 2 / total, so that many small changes count; 0 of
/// no work.
double moved_share(const Slices& before, const Slices& after) {
  double total = 0.0;
  double moved = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    total += static_cast<double>(before[i]);
    moved += std::abs(static_cast<double>(after[i] - before[i]));
  }
  return total > 0.0 ? 0.5 * moved / total : 0.0;
}

/// Slices proportional to the measured throughput.
Slices proportional_to_throughput(std::int64_t total, const RepeatedMeasurement::Points& points) {
  std::vector<double> speeds;
  for (const models::MeasuredPoint& point : points) speeds.push_back(point.units > 0.0 ? point.speed() : 0.0);
  return constant_speeds(total, speeds, {}).units;
}

/// The distribution halfway between two of the same total, rounded towards `from`; its sum is exact, for what moves
/// across each border between slices is halved.
Slices halfway(const Slices& from, const Slices& to) {
  Slices middle = from;
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t before = moved;
    moved += to[i] - from[i];
    middle[i] += moved / 2 - before / 2;
  }
  return middle;
}

enum class Steps { one, many };

Outcome balance_throughput(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options, Steps steps) {
  if (!(options.eps >= 0.0)) throw InvalidArgument(fmt::format("eps {} (expected >= 0)", options.eps));
  RepeatedMeasurement measurement(measure, options.repetition);
  Slices best = even_slices(total, unit_count);
  while (true) {
    if (measured_imbalance(measurement.of(best)) <= options.eps) return measurement.outcome(best, StopReason::balanced);
    if (!measurement.differ(best)) return measurement.outcome(best, StopReason::within_spread);
    Slices next = proportional_to_throughput(total, measurement.of(best));
    if (moved_share(best, next) <= options.eps) return measurement.outcome(best, StopReason::settled);
    if (measurement.exhausted()) return measurement.outcome(best, StopReason::measurement_limit);
    int comparison = measurement.compare(best, next);
    if (steps == Steps::one && comparison >= 0) return measurement.outcome(next, StopReason::single_step);
    while (comparison < 0) {
      next = halfway(best, next);
      if (steps == Steps::one || moved_share(best, next) <= options.eps) {
        return measurement.outcome(best, StopReason::no_improvement);
      }
      if (measurement.exhausted()) return measurement.outcome(best, StopReason::measurement_limit);
      comparison = measurement.compare(best, next);
    }
    if (comparison == 0) {
      const bool is_shorter = last_done(measurement.of(next)).time_s < last_done(measurement.of(best)).time_s;
      return measurement.outcome(is_shorter ? next : best, StopReason::within_spread);
    }
    best = std::move(next);
  }
}

}  // namespace

Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options) {
  return EqualTimesSearch(total, measure, options).run();
}

Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options) {
  const auto measure_all = [&](std::span<const std::int64_t> units) {
    std::vector<models::MeasuredPoint> points(units.size(), measure(units));
    for (std::size_t i = 0; i < units.size(); ++i) points[i].units = static_cast<double>(units[i]);
    return points;
  };
  return IterationTimeSearch(total, measure_all, options).run();
}

Outcome throughput_balance(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options) {
  return balance_throughput(total, unit_count, measure, options, Steps::one);
}

Outcome iterative_calibration(std::int64_t total, std::size_t unit_count, const Measure& measure,
                              const ThroughputOptions& options) {
  return balance_throughput(total, unit_count, measure, options, Steps::many);
}

}  // namespace steelyard::partition
