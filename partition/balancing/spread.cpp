#include "partition/balancing/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/statistics.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

namespace {

constexpr double confidence_level = 0.95;

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

MeasuredPoint merge_measured(std::vector<MeasuredPoint> rounds) {
  if (rounds.size() == 1) return rounds.front();
  for (MeasuredPoint& round : rounds) {
    if (std::isinf(round.confidence_s)) round.confidence_s = 0.0;
  }
  return models::merge_rounds(rounds, confidence_level);
}

}  // namespace steelyard::partition
