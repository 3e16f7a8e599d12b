#include "partition/balancing/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/geometric.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

bool clearly_longer(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.time_s - a.confidence_s > b.time_s + b.confidence_s;
}

double clear_difference_s(std::span<const MeasuredPoint> points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double longest = -infinity;
  double shortest = infinity;
  int working = 0;
  for (const MeasuredPoint& point : points) {
    if (!(point.units > 0.0)) continue;
    longest = std::max(longest, point.time_s - point.confidence_s);
    shortest = std::min(shortest, point.time_s + point.confidence_s);
    ++working;
  }
  return working > 1 ? longest - shortest : 0.0;
}

double measured_imbalance(std::span<const MeasuredPoint> points) {
  const double longest = last_done(points).time_s;
  double shortest = longest;
  for (const MeasuredPoint& point : points) {
    if (point.units > 0.0) shortest = std::min(shortest, point.time_s);
  }
  return longest > 0.0 ? (longest - shortest) / longest : 0.0;
}

MeasuredPoint last_done(std::span<const MeasuredPoint> points) {
  MeasuredPoint last;
  for (const MeasuredPoint& point : points) {
    if (point.units > 0.0 && point.time_s > last.time_s) last = point;
  }
  return last;
}

MeasuredPoint point_of_sample(std::int64_t units, std::span<const double> times_s, double level) {
  MeasuredPoint point{static_cast<double>(units), mean(times_s), static_cast<int>(times_s.size()), 0.0,
                      count_outliers(times_s)};
  if (times_s.size() > 1) point.confidence_s = confidence_half_width(times_s, level);
  return point;
}

MeasuredPoint merge_measured(std::span<const MeasuredPoint> rounds, double level) {
  if (rounds.size() == 1) return rounds.front();
  std::vector<MeasuredPoint> known(rounds.begin(), rounds.end());
  for (MeasuredPoint& round : known) {
    if (std::isinf(round.confidence_s)) round.confidence_s = 0.0;
  }
  return models::merge_rounds(known, level);
}

std::string to_string(StopReason reason) {
  switch (reason) {
    case StopReason::running:
      return "still running";
    case StopReason::balanced:
      return "all units take equally long";
    case StopReason::settled:
      return "the distribution no longer changes";
    case StopReason::within_spread:
      return "differences are within the measurements' spread";
    case StopReason::no_improvement:
      return "no step is faster";
    case StopReason::single_step:
      return "took its one step";
    case StopReason::measurement_limit:
      return "measured as often as allowed";
  }
  return "unknown";
}

double moved_share(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
  if (before.size() != after.size()) {
    throw InvalidArgument(fmt::format("{} slices and {} to compare (expected as many)", before.size(), after.size()));
  }
  double total = 0.0;
  double moved = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    total += static_cast<double>(before[i]);
    moved += std::abs(static_cast<double>(after[i] - before[i]));
  }
  return total > 0.0 ? 0.5 * moved / total : 0.0;
}

std::vector<std::int64_t> start_or_even(std::int64_t total, std::size_t unit_count, std::span<const std::int64_t> start,
                                        std::span<const double> max_units) {
  if (!max_units.empty() && max_units.size() != unit_count) {
    throw InvalidArgument(
        fmt::format("{} memory limits for {} processing units (expected as many)", max_units.size(), unit_count));
  }
  // Units of equal speed: what one cannot hold is shared by the others.
  std::vector<models::ConstantModel> equal;
  for (std::size_t i = 0; i < unit_count; ++i) {
    equal.emplace_back(1.0, max_units.empty() ? std::numeric_limits<double>::infinity() : max_units[i]);
  }
  std::vector<const models::SpeedModel*> pointers;
  for (const models::ConstantModel& model : equal) pointers.push_back(&model);
  std::vector<std::int64_t> even = geometric(total, pointers).units;
  if (start.empty()) return even;

  if (start.size() != unit_count || std::ranges::any_of(start, [](std::int64_t slice) { return slice < 0; }) ||
      std::accumulate(start.begin(), start.end(), std::int64_t{0}) != total) {
    throw InvalidArgument(fmt::format("the start is no distribution of {} computation units over {} processing units",
                                      total, unit_count));
  }
  for (std::size_t i = 0; i < unit_count; ++i) {
    if (!equal[i].fits(static_cast<double>(start[i]))) {
      throw InvalidArgument(fmt::format("the start gives {} computation units to unit {}, which holds {}", start[i], i,
                                        equal[i].max_units()));
    }
  }
  return {start.begin(), start.end()};
}

using models::MeasuredPoint;

namespace {

bool certain(const RepeatedMeasurement::Points& points) {
  return std::ranges::all_of(points, [](const MeasuredPoint& point) { return point.confidence_s == 0.0; });
}

}  // namespace

void require_repetition(const Repetition& repetition) {
  if (!(1 <= repetition.least_rounds && repetition.least_rounds <= repetition.most_rounds)) {
    throw InvalidArgument(fmt::format("{} to {} rounds of a distribution (expected 1 <= least <= most)",
                                      repetition.least_rounds, repetition.most_rounds));
  }
  if (repetition.most_measurements < 1) {
    throw InvalidArgument(fmt::format("at most {} measurements (expected >= 1)", repetition.most_measurements));
  }
  if (!(repetition.level > 0.0 && repetition.level < 1.0)) {
    throw InvalidArgument(fmt::format("confidence level {} (expected between 0 and 1)", repetition.level));
  }
}

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

RepeatedMeasurement::RepeatedMeasurement(Measure measure, const Repetition& repetition)
    : measure_(std::move(measure)), repetition_(repetition) {
  require_repetition(repetition);
}

void RepeatedMeasurement::measure_once(const Units& units, Place& place) {
  Points points = measure_(units);
  require_measured(units, points);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] == 0) points[i] = MeasuredPoint{};
  }
  ++count_;
  place.rounds.push_back(std::move(points));
  place.merged = place.rounds.front();
  for (std::size_t i = 0; i < units.size() && place.rounds.size() > 1; ++i) {
    if (units[i] == 0) continue;
    Points rounds;
    for (const Points& round : place.rounds) rounds.push_back(round[i]);
    place.merged[i] = merge_measured(rounds, repetition_.level);
  }
}

const RepeatedMeasurement::Points& RepeatedMeasurement::of(const Units& units) {
  Place& place = places_[units];
  while (place.rounds.empty() || (static_cast<int>(place.rounds.size()) < repetition_.least_rounds && !exhausted())) {
    measure_once(units, place);
  }
  return place.merged;
}

bool RepeatedMeasurement::again(const Units& units) {
  Place& place = places_[units];
  if (exhausted() || static_cast<int>(place.rounds.size()) >= repetition_.most_rounds) return false;
  measure_once(units, place);
  return true;
}

bool RepeatedMeasurement::afresh(const Units& units) {
  if (exhausted()) return false;
  Place& place = places_[units];
  place.rounds.clear();
  measure_once(units, place);
  return true;
}

bool RepeatedMeasurement::differ(const Units& units) {
  // Where nothing is uncertain, more rounds would not tell more.
  for (const Points* points = &of(units); clear_difference_s(*points) <= 0.0; points = &of(units)) {
    if (clear_difference_s(*points) == 0.0 && certain(*points)) return false;
    if (!again(units)) return false;
  }
  return true;
}

int RepeatedMeasurement::compare(const Units& a, const Units& b) {
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

}  // namespace steelyard::partition
