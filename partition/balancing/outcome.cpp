#include "partition/balancing/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

namespace {

constexpr double confidence_level = 0.95;

bool certain(const RepeatedMeasurement::Points& points) {
  return std::ranges::all_of(points, [](const MeasuredPoint& point) { return point.confidence_s == 0.0; });
}

/// As models::merge_rounds(), for rounds of which some are single runs with an infinite interval: several of them tell
/// their spread together.
MeasuredPoint merge_measured(std::vector<MeasuredPoint> rounds) {
  if (rounds.size() == 1) return rounds.front();
  for (MeasuredPoint& round : rounds) {
    if (std::isinf(round.confidence_s)) round.confidence_s = 0.0;
  }
  return models::merge_rounds(rounds, confidence_level);
}

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

}  // namespace

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

MeasuredPoint point_of_sample(std::int64_t units, std::span<const double> times_s) {
  MeasuredPoint point{static_cast<double>(units), mean(times_s), static_cast<int>(times_s.size()), 0.0,
                      count_outliers(times_s)};
  if (times_s.size() > 1) point.confidence_s = confidence_half_width(times_s, confidence_level);
  return point;
}

std::string to_string(StopReason reason) {
  static constexpr std::array reasons{"all units take equally long",
                                      "the distribution no longer changes",
                                      "differences are within the measurements' spread",
                                      "no step is faster",
                                      "took its one step",
                                      "measured as often as allowed"};
  return reasons.at(static_cast<std::size_t>(reason));
}

RepeatedMeasurement::RepeatedMeasurement(Measure measure, const Repetition& repetition)
    : measure_(std::move(measure)), repetition_(repetition) {
  if (repetition.most_rounds < 1 || repetition.most_measurements < 1) {
    throw InvalidArgument(fmt::format("at most {} rounds of a distribution and {} measurements (expected >= 1)",
                                      repetition.most_rounds, repetition.most_measurements));
  }
}

void RepeatedMeasurement::measure_once(const Units& units, Place& place) {
  Points points = measure_(units);
  require_measured(units, points);
  ++count_;
  place.rounds.push_back(std::move(points));
  place.merged.clear();
  for (std::size_t i = 0; i < units.size(); ++i) {
    Points rounds;
    for (const Points& round : place.rounds) rounds.push_back(round[i]);
    place.merged.push_back(units[i] > 0 ? merge_measured(std::move(rounds)) : MeasuredPoint{});
  }
}

const RepeatedMeasurement::Points& RepeatedMeasurement::of(const Units& units) {
  Place& place = places_[units];
  if (place.rounds.empty()) measure_once(units, place);
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
  while (clear_difference_s(of(units)) <= 0.0) {
    // Where nothing is uncertain, more rounds would not tell more.
    if (certain(of(units)) || !again(units)) return false;
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

Outcome RepeatedMeasurement::outcome(const Units& units, StopReason reason) {
  Distribution distribution{units, {}};
  for (const MeasuredPoint& point : of(units)) distribution.predicted_s.push_back(point.time_s);
  return {std::move(distribution), reason, count_};
}

}  // namespace steelyard::partition
