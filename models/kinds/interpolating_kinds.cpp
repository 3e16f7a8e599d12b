// Kinds that pass through their points.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/interpolators/makima.hpp>
#include <cmath>
#include <functional>
#include <iterator>

#include "core/base/errors.hpp"
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

PiecewiseLinearModel::PiecewiseLinearModel(Points points, Shape shape, double max_units)
    : SpeedModel(points, max_units) {
  const std::vector<bool> keep = points_in_shape(points, shape);
  for (std::size_t i = 0; i < keep.size(); ++i) (keep[i] ? kept_ : dropped_).push_back(points[i]);
  increasing_ = std::ranges::adjacent_find(kept_, std::greater_equal<>(), &MeasuredPoint::time_s) == kept_.end();
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
  const double units = after == kept_.begin() ? time_s * kept_.front().speed()
                       : after == kept_.end() ? time_s * kept_.back().speed()
                                              : units_in_segment(*(after - 1), *after, time_s);
  return std::min(units, max_units());
}

AkimaModel::AkimaModel(Points points, double max_units) : SpeedModel(points, max_units) {
  for (const MeasuredPoint& point : points) {
    ln_units_.push_back(std::log(point.units));
    ln_speeds_.push_back(std::log(point.speed()));
  }
  constexpr std::size_t least = 4;
  if (points.size() < least) {
    spline_ = [x = ln_units_, y = ln_speeds_](double at) {
      const auto right = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
      return std::lerp(y[right - 1], y[right], (at - x[right - 1]) / (x[right] - x[right - 1]));
    };
  } else {
    spline_ = boost::math::interpolators::makima<std::vector<double>>(std::vector(ln_units_), std::vector(ln_speeds_));
  }
}

double AkimaModel::fitted_speed(double units) const {
  const double at = std::log(units);  // that of 0 is before every point
  if (at <= ln_units_.front()) return std::exp(ln_speeds_.front());
  if (at >= ln_units_.back()) return std::exp(ln_speeds_.back());
  return std::exp(spline_(at));
}

TableModel::TableModel(Points points, double max_units) : SpeedModel(points, max_units) {
  double largest = 0.0;
  for (const MeasuredPoint& point : points) {
    if (fits(point.units)) largest = point.units;
  }
  if (largest == 0.0) {
    throw InvalidArgument(
        fmt::format("limit of {} units below the smallest measured size {}", max_units, points.front().units));
  }
  set_max_units(largest);
}

double TableModel::fitted_speed(double units) const {
  const auto place = std::ranges::lower_bound(points(), units, {}, &MeasuredPoint::units);
  return place != points().end() && place->units == units ? place->speed() : 0.0;
}

double TableModel::units_within(double time_s) const {
  // As time_s() rounds it: the time that the model itself gives for a size has to be enough for that size.
  const auto place = std::find_if(points().rbegin(), points().rend(), [&](const MeasuredPoint& point) {
    return fits(point.units) && this->time_s(point.units) <= time_s;
  });
  return place != points().rend() ? place->units : 0.0;
}

}  // namespace steelyard::models
