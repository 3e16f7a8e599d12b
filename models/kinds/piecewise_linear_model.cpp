#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {
namespace {

/// The size between two points, of which the left one fits into `time_s` and the right one does not, that takes
/// `time_s` where speed is linear: at the share u of the way with x_l + u (x_r - x_l) = time_s (s_l + u (s_r - s_l)).
double units_in_segment(const MeasuredPoint& left, const MeasuredPoint& right, double time_s) {
  // Differences of times do not cancel, unlike the line's intercept, where both points take nearly as long.
  const double past_left = left.speed() * (time_s - left.time_s);
  const double before_right = right.speed() * std::max(0.0, right.time_s - time_s);
  return past_left > 0.0 ? std::lerp(left.units, right.units, past_left / (past_left + before_right)) : left.units;
}

}  // namespace

PiecewiseLinearModel::PiecewiseLinearModel(std::span<const MeasuredPoint> points, Shape shape, double max_units)
    : SpeedModel(points, max_units) {
  const std::vector<bool> keep = points_in_shape(points, shape);
  for (std::size_t i = 0; i < keep.size(); ++i) (keep[i] ? kept_ : dropped_).push_back(points[i]);
  const auto no_longer = [](const MeasuredPoint& left, const MeasuredPoint& right) {
    return right.time_s <= left.time_s;
  };
  increasing_ = std::ranges::adjacent_find(kept_, no_longer) == kept_.end();
}

double PiecewiseLinearModel::fitted_speed(double units) const {
  const auto [left, right, share] = place_among(kept_, units);
  return std::lerp(kept_[left].speed(), kept_[right].speed(), share);
}

double PiecewiseLinearModel::units_within(double time_s) const {
  if (!(time_s > 0.0)) return 0.0;
  if (this->time_s(max_units()) <= time_s) return max_units();
  // As time_s() rounds it: the time that the model itself gives for a point has to be enough for that point.
  const auto fits = [&](const MeasuredPoint& point) { return this->time_s(point.units) <= time_s; };
  // Points beyond the limit count only as the end of the segment that the limit is in.
  const auto end = std::ranges::upper_bound(kept_, max_units(), {}, &MeasuredPoint::units);
  // The last point that can be done in time; where time does not grow everywhere it has to be looked for.
  const auto after = increasing_ ? std::partition_point(kept_.begin(), end, fits)
                                 : std::find_if(std::make_reverse_iterator(end), kept_.rend(), fits).base();
  double units = 0.0;
  if (after == kept_.begin()) {
    units = time_s * kept_.front().speed();
  } else if (after == kept_.end()) {
    units = time_s * kept_.back().speed();
  } else {
    units = units_in_segment(*(after - 1), *after, time_s);
  }
  return std::min(units, max_units());
}

}  // namespace steelyard::models
