#include "models/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace steelyard::models {
namespace {

/// How far an inner point lies from the line through its neighbours, as a share of its time.
double residual(Points points, std::size_t i) {
  const double at = (points[i].units - points[i - 1].units) / (points[i + 1].units - points[i - 1].units);
  return std::abs(points[i].speed() / std::lerp(points[i - 1].speed(), points[i + 1].speed(), at) - 1.0);
}

/// f(x) of estimate().
double fit_error(Points points, double units) {
  const std::size_t last = points.size() - 1;
  if (last < 2) return 0.0;
  const auto outside = [&](std::size_t end, std::size_t inner) {
    const double gap = std::abs(points[end].units - points[inner].units);
    return residual(points, inner) * std::min(1.0, std::abs(units - points[end].units) / gap);
  };
  if (units <= points.front().units) return outside(0, 1);
  if (units >= points.back().units) return outside(last, last - 1);
  const auto [left, right, share] = place_among(points, units);
  const double reach = (units - points[left].units) * (points[right].units - units);
  double error = 0.0;
  for (const std::size_t j : {left, right}) {
    if (j == 0 || j == last) continue;
    const double other = (points[j].units - points[j - 1].units) * (points[j + 1].units - points[j].units);
    error = std::max(error, residual(points, j) * std::min(1.0, reach / other));
  }
  return error;
}

/// Error of the mean of a point; 0 where it was not measured.
double noise(const MeasuredPoint& point) {
  constexpr double level_of_points = 0.95;
  if (point.repetitions < 2 || !std::isfinite(point.confidence_s)) return 0.0;
  const int degrees = point.repetitions - 1;
  return student_quantile(interval_level, degrees) / student_quantile(level_of_points, degrees) * point.confidence_s /
         point.time_s;
}

}  // namespace

double Estimate::half_width_s() const { return std::hypot(own_s, shared_s); }

Interval Estimate::interval() const {
  if (!(time_s > 0.0)) return {time_s, time_s};
  const double factor = 1.0 + half_width_s() / time_s;
  return {time_s / factor, time_s * factor};
}

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.time_s + b.time_s, std::hypot(a.own_s, b.own_s), a.shared_s + b.shared_s};
}

Estimate longest(std::span<const Estimate> estimates) {
  Estimate all;
  for (const Estimate& one : estimates) all.time_s = std::max(all.time_s, one.time_s);
  for (const Estimate& one : estimates) {
    all.own_s = std::max(all.own_s, one.time_s + one.own_s - all.time_s);
    all.shared_s = std::max(all.shared_s, one.time_s + one.shared_s - all.time_s);
  }
  return all;
}

Estimate run_estimate(std::span<const Estimate> units, double time_s, double exchange_s, double channel_error) {
  // Errors of a phase that repeats are the same every time.
  const Estimate once = longest(units);
  const double work_s = time_s - exchange_s, factor = once.time_s > 0.0 ? work_s / once.time_s : 0.0;
  return {work_s + exchange_s, factor * once.own_s, factor * once.shared_s + channel_error * exchange_s};
}

Estimate estimate(const FpmFile& file, double units, double time_s) {
  // Those of the other regime of memory say nothing of this one.
  std::vector<MeasuredPoint> points = file.points;
  std::erase_if(points, [&](const MeasuredPoint& point) {
    return (point.units <= file.in_core_units) != (units <= file.in_core_units);
  });
  Estimate result{time_s, 0.0, 0.0};
  if (points.empty() || !(time_s > 0.0)) return result;
  result.own_s = time_s * fit_error(points, units);
  const Drift& drift = file.drift;
  double of_rounds = 0.0;
  if (drift.degrees > 0) {
    of_rounds = student_quantile(interval_level, drift.degrees) * std::sqrt(1.0 + 1.0 / drift.rounds) * drift.share;
  } else {
    const auto distance = [=](const MeasuredPoint& point) { return std::abs(point.units - units); };
    const double of_point = noise(*std::ranges::min_element(points, {}, distance));
    if (of_point == 0.0) return result;
    result.own_s = std::hypot(result.own_s, time_s * std::sqrt(2.0) * of_point);
  }
  constexpr double normal_quantile = 1.645;  // z_{0.95}
  result.shared_s = time_s * std::hypot(of_rounds, normal_quantile * later_drift);
  return result;
}

}  // namespace steelyard::models
