#include "models/variation.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::models {
namespace {

/// The speed at a size by the line through points between whose sizes it is.
double interpolated_speed(const std::vector<MeasuredPoint>& points, double units) {
  const auto after = std::find_if(points.begin() + 1, points.end() - 1,
                                  [&](const MeasuredPoint& point) { return point.units >= units; });
  const MeasuredPoint &from = *(after - 1), &to = *after;
  return std::lerp(from.speed(), to.speed(), (units - from.units) / (to.units - from.units));
}

}  // namespace

Variation variation(std::span<const MeasuredPoint> points) {
  Variation found;
  if (points.size() < 2) {
    for (const MeasuredPoint& point : points) found.bands.push_back({point.units, point.speed(), point.speed()});
    return found;
  }
  std::vector<MeasuredPoint> minima{points.front()}, maxima{points.front()};
  double last_extremum = points.front().speed();
  const auto vary = [&](double extremum) {
    const double change = std::abs(extremum - last_extremum) / std::min(extremum, last_extremum);
    found.largest = std::max(found.largest, change);
    last_extremum = extremum;
  };
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double before = points[i - 1].speed(), here = points[i].speed(), after = points[i + 1].speed();
    const bool is_minimum = before > here && here <= after, is_maximum = before < here && here >= after;
    if (is_minimum) minima.push_back(points[i]);
    if (is_maximum) maxima.push_back(points[i]);
    if (is_minimum || is_maximum) vary(here);
  }
  vary(points.back().speed());
  minima.push_back(points.back());
  maxima.push_back(points.back());
  for (const MeasuredPoint& point : points) {
    const double of_minima = interpolated_speed(minima, point.units);
    const double of_maxima = interpolated_speed(maxima, point.units);
    const auto [low, high] = std::minmax(of_minima, of_maxima);
    found.bands.push_back({point.units, low, high});
    found.widest = std::max(found.widest, high / low - 1.0);
  }
  return found;
}

}  // namespace steelyard::models
