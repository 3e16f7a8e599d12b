#include "models/piecewise_linear_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

double point_speed(const MeasuredPoint& point) { return point.units / point.time_s; }

/// Marks a longest subsequence of points whose times strictly increase.
std::vector<bool> longest_increasing(std::span<const MeasuredPoint> points) {
  const std::size_t count = points.size();
  std::vector<std::size_t> tails;  // tails[k]: index that ends the best subsequence of length k + 1
  std::vector<std::size_t> before(count, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = std::lower_bound(tails.begin(), tails.end(), points[i].time_s,
                                        [&](std::size_t tail, double time) { return points[tail].time_s < time; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<bool> kept(count, false);
  for (std::size_t i = tails.back(); i != count; i = before[i]) kept[i] = true;
  return kept;
}

/// The size between two points, of which the left one fits into `time_s` and the right one does not, that takes
/// `time_s` where speed is linear: at the share u of the way with x_l + u (x_r - x_l) = time_s (s_l + u (s_r - s_l)).
double units_in_segment(const MeasuredPoint& left, const MeasuredPoint& right, double time_s) {
  // Differences of times do not cancel, unlike the line's intercept, where both points take nearly as long.
  const double past_left = point_speed(left) * (time_s - left.time_s);
  const double before_right = point_speed(right) * std::max(0.0, right.time_s - time_s);
  return past_left > 0.0 ? std::lerp(left.units, right.units, past_left / (past_left + before_right)) : left.units;
}

}  // namespace

PiecewiseLinearModel::PiecewiseLinearModel(std::span<const MeasuredPoint> points, Shape shape, double max_units)
    : max_units_(max_units) {
  if (points.empty()) throw InvalidArgument("piecewise linear model of no points (expected at least one)");
  if (!(max_units > 0.0)) throw InvalidArgument(fmt::format("limit of {} units (expected a number > 0)", max_units));
  double before = 0.0;
  for (const MeasuredPoint& point : points) {
    if (!(point.units > before && std::isfinite(point.units))) {
      throw InvalidArgument(fmt::format("point of {} units after {} (expected increasing sizes)", point.units, before));
    }
    if (!(point.time_s > 0.0 && std::isfinite(point.time_s))) {
      throw InvalidArgument(
          fmt::format("point of {} units takes {} s (expected a finite number > 0)", point.units, point.time_s));
    }
    before = point.units;
  }
  const std::vector<bool> increasing = longest_increasing(points);
  const bool drop = shape == Shape::increasing_time;
  for (std::size_t i = 0; i < points.size(); ++i) {
    (drop && !increasing[i] ? dropped_ : points_).push_back(points[i]);
    increasing_ = increasing_ && (drop || increasing[i]);
  }
}

double PiecewiseLinearModel::speed(double units) const {
  require_units(units);
  if (units <= points_.front().units) return point_speed(points_.front());
  if (units >= points_.back().units) return point_speed(points_.back());
  const auto right = std::upper_bound(points_.begin(), points_.end(), units,
                                      [](double x, const MeasuredPoint& point) { return x < point.units; });
  const auto left = right - 1;
  const double share = (units - left->units) / (right->units - left->units);
  return std::lerp(point_speed(*left), point_speed(*right), share);
}

double PiecewiseLinearModel::time_s(double units) const { return units == 0.0 ? 0.0 : units / speed(units); }

double PiecewiseLinearModel::units_within(double time_s) const {
  if (!(time_s > 0.0)) return 0.0;
  if (this->time_s(max_units_) <= time_s) return max_units_;
  const auto fits = [&](const MeasuredPoint& point) { return point.time_s <= time_s; };
  // Points beyond the limit count only as the end of the segment that the limit is in.
  const auto end = std::upper_bound(points_.begin(), points_.end(), max_units_,
                                    [](double most, const MeasuredPoint& point) { return most < point.units; });
  // The last point that can be done in time; where time does not grow everywhere it has to be looked for.
  const auto after = increasing_ ? std::partition_point(points_.begin(), end, fits)
                                 : std::find_if(std::make_reverse_iterator(end), points_.rend(), fits).base();
  double units = 0.0;
  if (after == points_.begin()) {
    units = time_s * point_speed(points_.front());
  } else if (after == points_.end()) {
    units = time_s * point_speed(points_.back());
  } else {
    units = units_in_segment(*(after - 1), *after, time_s);
  }
  return std::min(units, max_units_);
}

}  // namespace steelyard::models
