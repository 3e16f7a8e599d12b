#include "partition/balancing/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace steelyard::partition {

using models::MeasuredPoint;

bool clearly_longer(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.time_s - a.confidence_s > b.time_s + b.confidence_s;
}

bool clearly_differ(std::span<const MeasuredPoint> points) {
  double longest = 0.0;
  double shortest = std::numeric_limits<double>::infinity();
  for (const MeasuredPoint& point : points) {
    if (!(point.units > 0.0)) continue;
    longest = std::max(longest, point.time_s - point.confidence_s);
    shortest = std::min(shortest, point.time_s + point.confidence_s);
  }
  return longest > shortest;
}

MeasuredPoint last_done(std::span<const MeasuredPoint> points) {
  MeasuredPoint last;
  for (const MeasuredPoint& point : points) {
    if (point.units > 0.0 && point.time_s > last.time_s) last = point;
  }
  return last;
}

MeasuredPoint merge_measured(std::vector<MeasuredPoint> rounds) {
  if (rounds.size() == 1) return rounds.front();
  for (MeasuredPoint& round : rounds) {
    if (std::isinf(round.confidence_s)) round.confidence_s = 0.0;
  }
  return models::merge_rounds(rounds, confidence_level);
}

}  // namespace steelyard::partition
