#include "partition/balancing/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {
namespace {

using models::MeasuredPoint;
using Slices = std::vector<std::int64_t>;
using Points = std::vector<MeasuredPoint>;

/// Checks what a measurement of `units` returned.
void require_measured(std::span<const std::int64_t> units, std::span<const MeasuredPoint> points) {
  if (points.size() != units.size()) {
    throw InvalidArgument(
        fmt::format("{} points of {} processing units (expected one each)", points.size(), units.size()));
  }
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] == 0) continue;
    const MeasuredPoint& point = points[i];
    if (point.units != static_cast<double>(units[i])) {
      throw InvalidArgument(
          fmt::format("unit {} was measured at {} computation units (expected {})", i, point.units, units[i]));
    }
    if (!(point.time_s > 0.0 && std::isfinite(point.time_s) && point.confidence_s >= 0.0)) {
      throw InvalidArgument(fmt::format("unit {} took {} s +- {} s (expected a finite time > 0 and an interval >= 0)",
                                        i, point.time_s, point.confidence_s));
    }
  }
}

/// Measures distributions again and again, and remembers what several rounds say together.
class RepeatedMeasurement {
 public:
  RepeatedMeasurement(Measure measure, const Repetition& repetition)
      : measure_(std::move(measure)), repetition_(repetition) {
    if (repetition.most_rounds < 1 || repetition.most_measurements < 1) {
      throw InvalidArgument(fmt::format("at most {} rounds of a distribution and {} measurements (expected >= 1)",
                                        repetition.most_rounds, repetition.most_measurements));
    }
  }

  /// All rounds of a distribution together; at least one.
  const Points& of(const Slices& units) {
    if (!known(units)) measure_once(units);
    return places_[units].merged;
  }

  /// Forgets the rounds of a distribution and measures anew, unless no measurements are left; says whether it did.
  bool afresh(const Slices& units) {
    if (exhausted()) return false;
    places_[units].rounds.clear();
    measure_once(units);
    return true;
  }

  /// Whether no time of a distribution is uncertain, so that more rounds would tell no more.
  bool is_certain(const Slices& units) {
    return std::ranges::all_of(of(units), [](const MeasuredPoint& point) { return point.confidence_s == 0.0; });
  }

  /// Measures until some two units clearly differ; false where that is within the spread after all rounds.
  bool differ(const Slices& units) {
    while (!clearly_differ(of(units))) {
      if (is_certain(units) || !again(units)) return false;
    }
    return true;
  }

  /// Measures until one distribution's last unit is clearly done before the other's: negative where that of `a` is,
  /// positive where that of `b` is, 0 where that is within the spread after all rounds.
  int compare(const Slices& a, const Slices& b) {
    while (true) {
      const MeasuredPoint last_a = last_done(of(a));
      const MeasuredPoint last_b = last_done(of(b));
      if (clearly_longer(last_b, last_a)) return -1;
      if (clearly_longer(last_a, last_b)) return 1;
      if (a == b || (last_a.confidence_s == 0.0 && last_b.confidence_s == 0.0)) return 0;
      const bool more_of_a = again(a);
      const bool more_of_b = again(b);
      if (!more_of_a && !more_of_b) return 0;
    }
  }

  /// The fastest of all distributions so far, of several the one measured first. The least of many uncertain times is
  /// likely to be a lucky one: those that may be as fast are measured again.
  Slices fastest() {
    const auto last_s = [&](const Slices& units) { return last_done(of(units)).time_s; };
    const Slices lucky = *std::ranges::min_element(order_, {}, last_s);
    for (const Slices& units : order_) compare(units, lucky);
    return *std::ranges::min_element(order_, {}, last_s);
  }

  int left() const { return std::max(0, repetition_.most_measurements - count_); }
  bool exhausted() const { return left() == 0; }
  bool known(const Slices& units) const { return places_.contains(units); }

  /// Balancing ends with a distribution, as measured.
  Outcome outcome(const Slices& units, StopReason reason) {
    Outcome result{{units, {}}, reason, 0};
    for (const MeasuredPoint& point : of(units)) result.distribution.predicted_s.push_back(point.time_s);
    result.measurements = count_;
    return result;
  }

 private:
  struct Place {
    std::vector<Points> rounds;
    Points merged;
  };

  void measure_once(const Slices& units) {
    Points points = measure_(units);
    require_measured(units, points);
    ++count_;
    const auto [entry, is_new] = places_.try_emplace(units);
    if (is_new) order_.push_back(units);
    Place& place = entry->second;
    place.rounds.push_back(std::move(points));
    place.merged.clear();
    for (std::size_t i = 0; i < units.size(); ++i) {
      Points rounds;
      for (const Points& round : place.rounds) rounds.push_back(round[i]);
      place.merged.push_back(units[i] > 0 ? merge_measured(rounds) : MeasuredPoint{});
    }
  }

  /// One more round, unless it had as many as allowed or no measurements are left; says whether there was one.
  bool again(const Slices& units) {
    if (exhausted() || std::ssize(places_[units].rounds) >= repetition_.most_rounds) return false;
    measure_once(units);
    return true;
  }

  Measure measure_;
  Repetition repetition_;
  std::map<Slices, Place> places_;
  std::vector<Slices> order_;  ///< in which they were first measured
  int count_ = 0;
};

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
  MeasuredPoint last(std::int64_t first) { return last_done(measurement_.of(line(first))); }
  bool can_measure(std::int64_t first) const { return measurement_.known(line(first)) || !measurement_.exhausted(); }

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
      if (!measurement_.known(line(end)) || verified_.contains(end) || measurement_.is_certain(line(end))) continue;
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
      return can_measure(first) ? last(first).time_s : std::numeric_limits<double>::infinity();
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
    const StopReason reason = search();
    return measurement_.outcome(measurement_.fastest(), reason);
  }

 private:
  StopReason search() {
    last(even_);
    std::int64_t lower = 0;
    std::int64_t upper = total_;
    while (upper - lower > std::max<std::int64_t>(2, resolution_)) {
      if (measurement_.left() < 2) return StopReason::measurement_limit;
      const std::int64_t third = (upper - lower) / 3;
      const std::int64_t left = lower + third, right = upper - third;
      const int comparison = measurement_.compare(line(left), line(right));
      if (comparison > 0) {
        lower = left + 1;
      } else if (comparison < 0) {
        upper = right - 1;
      } else if (has_minimum_between(left, right)) {
        lower = left;
        upper = right;
      } else {
        return measurement_.exhausted() ? StopReason::measurement_limit : StopReason::within_spread;
      }
    }
    const std::int64_t step = std::max<std::int64_t>(1, (upper - lower) / 2);
    for (std::int64_t first = lower; first <= upper; first += step) {
      if (!can_measure(first)) return StopReason::measurement_limit;
      last(first);
    }
    return StopReason::settled;
  }

  /// Whether the time, the same at two lines, is less between them: a unimodal one without any spread is.
  bool has_minimum_between(std::int64_t left, std::int64_t right) {
    if (measurement_.is_certain(line(left)) && measurement_.is_certain(line(right))) return true;
    const std::int64_t middle = left + (right - left) / 2;
    if (middle == left || measurement_.exhausted()) return false;
    return measurement_.compare(line(middle), line(left)) < 0 || measurement_.compare(line(middle), line(right)) < 0;
  }
};

/// Share of the total that changes hands: sum |after_i - before_i| / 2 / total, so that many small changes count; 0 of
/// no work.
double moved_share(std::int64_t total, const Slices& before, const Slices& after) {
  double moved = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += std::abs(static_cast<double>(after[i] - before[i]));
  return total > 0 ? 0.5 * moved / static_cast<double>(total) : 0.0;
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

Outcome balance_throughput(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options, bool is_repeated) {
  if (!(options.eps >= 0.0)) throw InvalidArgument(fmt::format("eps {} (expected >= 0)", options.eps));
  RepeatedMeasurement measurement(measure, options.repetition);
  Slices best = even_slices(total, unit_count);
  while (true) {
    Outcome balanced = measurement.outcome(best, StopReason::balanced);
    if (balanced.distribution.imbalance() <= options.eps) return balanced;
    if (!measurement.differ(best)) return measurement.outcome(best, StopReason::within_spread);
    std::vector<double> speeds;
    for (const MeasuredPoint& point : measurement.of(best)) speeds.push_back(point.units > 0.0 ? point.speed() : 0.0);
    Slices next = constant_speeds(total, speeds, {}).units;
    if (moved_share(total, best, next) <= options.eps) return measurement.outcome(best, StopReason::settled);
    if (measurement.exhausted()) return measurement.outcome(best, StopReason::measurement_limit);
    int comparison = measurement.compare(best, next);
    if (!is_repeated && comparison >= 0) return measurement.outcome(next, StopReason::single_step);
    while (comparison < 0) {
      next = halfway(best, next);
      if (!is_repeated || moved_share(total, best, next) <= options.eps) {
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

std::string to_string(StopReason reason) {
  static constexpr std::array reasons{"all units take equally long",
                                      "the distribution no longer changes",
                                      "differences are within the measurements' spread",
                                      "no step is faster",
                                      "took its one step",
                                      "measured as often as allowed"};
  return reasons.at(static_cast<std::size_t>(reason));
}

Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options) {
  return EqualTimesSearch(total, measure, options).run();
}

Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options) {
  const auto measure_all = [&](std::span<const std::int64_t> units) {
    std::vector<MeasuredPoint> points(units.size(), measure(units));
    for (std::size_t i = 0; i < units.size(); ++i) points[i].units = static_cast<double>(units[i]);
    return points;
  };
  return IterationTimeSearch(total, measure_all, options).run();
}

Outcome throughput_balance(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options) {
  return balance_throughput(total, unit_count, measure, options, false);
}

Outcome iterative_calibration(std::int64_t total, std::size_t unit_count, const Measure& measure,
                              const ThroughputOptions& options) {
  return balance_throughput(total, unit_count, measure, options, true);
}

}  // namespace steelyard::partition
