#include "partition/balancing/repeated_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

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
