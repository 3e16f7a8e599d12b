#include "models/shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace steelyard::models {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
/// Share of a speed that may be rounding: a constant speed falls, and a straight rise is concave, all the same.
constexpr double speed_rounding = 1e-12;

/// Marks a longest subsequence of points whose times strictly increase.
std::vector<bool> longest_increasing_time(Points points) {
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

/// Points of a longest branch and the branch's next point or the one before.
struct Branch {
  int count = 0;
  std::size_t beside = none;
  double steepest = std::numeric_limits<double>::infinity();  ///< slope that its last step may have, given rounding
};

/// By their first points, the longest branches whose speed never grows.
std::vector<Branch> falling_branches(Points points) {
  std::vector<Branch> falling(points.size(), Branch{1});
  for (std::size_t i = points.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const bool falls =
          points[j].speed() <= points[i].speed() * (1.0 + speed_rounding) && points[j].time_s > points[i].time_s;
      if (falls && falling[j].count + 1 > falling[i].count) falling[i] = {falling[j].count + 1, j};
    }
  }
  return falling;
}

/// By their last step, the longest branches that rise along a concave curve: element [j][i] ends with that from i to j,
/// or where i = j begins in j; none where speed or time does not rise. O(n^3) for n points.
std::vector<std::vector<Branch>> rising_branches(Points points) {
  std::vector<std::vector<Branch>> rising(points.size());
  for (std::size_t j = 0; j < points.size(); ++j) {
    rising[j].resize(j + 1);
    rising[j][j].count = 1;
    for (std::size_t i = 0; i < j; ++i) {
      if (!(points[j].speed() > points[i].speed() && points[j].time_s > points[i].time_s)) continue;
      const double gap = points[j].units - points[i].units;
      const double slope = (points[j].speed() - points[i].speed()) / gap;
      const double uncertainty = speed_rounding * points[j].speed() / gap;
      for (std::size_t h = 0; h <= i; ++h) {
        const Branch& before = rising[i][h];
        const bool goes_on = before.count > 0 && before.steepest >= slope - uncertainty;
        if (goes_on && before.count + 1 > rising[j][i].count) {
          rising[j][i] = {before.count + 1, h, slope + uncertainty};
        }
      }
    }
  }
  return rising;
}

/// Marks a largest set of points whose speed first rises along a concave curve and then never grows.
std::vector<bool> longest_unimodal(Points points) {
  const std::vector<Branch> falling = falling_branches(points);
  const std::vector<std::vector<Branch>> rising = rising_branches(points);
  int most = 0;
  std::size_t peak = 0, before_peak = 0;
  for (std::size_t j = 0; j < points.size(); ++j) {
    const auto longest = std::ranges::max_element(rising[j], {}, &Branch::count);
    const auto i = static_cast<std::size_t>(longest - rising[j].begin());
    if (rising[j][i].count + falling[j].count <= most) continue;
    most = rising[j][i].count + falling[j].count;
    peak = j;
    before_peak = i;
  }
  std::vector<bool> kept(points.size(), false);
  for (std::size_t i = peak; i != none; i = falling[i].beside) kept[i] = true;
  for (std::size_t j = peak, i = before_peak; i != j;) {
    kept[i] = true;
    j = std::exchange(i, rising[j][i].beside);
  }
  return kept;
}

}  // namespace

std::string shape_name(Shape shape) {
  return shape == Shape::as_measured ? "as_measured" : shape == Shape::unimodal ? "unimodal" : "increasing_time";
}

std::vector<bool> points_in_shape(Points points, Shape shape) {
  if (shape == Shape::as_measured) return std::vector<bool>(points.size(), true);
  return shape == Shape::unimodal ? longest_unimodal(points) : longest_increasing_time(points);
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
