#include "models/shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace steelyard::models {

std::vector<bool> points_in_shape(Points points, Shape shape) {
  if (shape == Shape::as_measured) return std::vector<bool>(points.size(), true);
  // A longest subsequence of points whose times strictly increase.
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> tails;  // tails[k]: index that ends the best subsequence of length k + 1
  std::vector<std::size_t> before(points.size(), none);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto place = std::lower_bound(tails.begin(), tails.end(), points[i].time_s,
                                        [&](std::size_t tail, double time) { return points[tail].time_s < time; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<bool> kept(points.size(), false);
  for (std::size_t i = tails.back(); i != none; i = before[i]) kept[i] = true;
  return kept;
}

Variation variation(Points points) {
  Variation found;
  if (points.empty()) return found;
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
