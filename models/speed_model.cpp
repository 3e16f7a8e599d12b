#include "models/speed_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "models/largest_size.hpp"

namespace steelyard::models {
namespace {

void require_units(double units) {
  if (!(units >= 0.0)) throw InvalidArgument(fmt::format("{} computation units (expected a number >= 0)", units));
}

}  // namespace

SpeedModel::SpeedModel(double max_units) : max_units_(max_units) {
  if (!(max_units > 0.0)) throw InvalidArgument(fmt::format("limit of {} units (expected a number > 0)", max_units));
}

SpeedModel::SpeedModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(max_units) {
  require_points(points, "speed model");
  points_.assign(points.begin(), points.end());
}

double SpeedModel::speed(double units) const {
  require_units(units);
  return fits(units) ? fitted_speed(units) : 0.0;
}

double SpeedModel::time_s(double units) const {
  const double units_per_s = speed(units);
  if (units == 0.0) return 0.0;
  return units_per_s > 0.0 ? units / units_per_s : std::numeric_limits<double>::infinity();
}

double SpeedModel::units_within(double time_s) const { return largest_size_within(*this, time_s, breakpoints()); }

std::vector<double> SpeedModel::breakpoints() const {
  std::vector<double> sizes;
  for (const MeasuredPoint& point : points_) sizes.push_back(point.units);
  return sizes;
}

FitError SpeedModel::fit_error() const {
  FitError error;
  double squares = 0.0;
  int count = 0;
  for (const MeasuredPoint& point : points_) {
    if (!fits(point.units)) continue;
    const double deviation = std::abs(time_s(point.units) / point.time_s - 1.0);
    squares += deviation * deviation;
    ++count;
    if (deviation > error.largest) {
      error.largest = deviation;
      error.at_units = point.units;
    }
  }
  if (count > 0) error.rms = std::sqrt(squares / count);
  return error;
}

void SpeedModel::update(const MeasuredPoint& point) {
  require_points(std::span(&point, 1), "speed model");
  std::vector<MeasuredPoint> before = points_;
  const auto place = std::lower_bound(points_.begin(), points_.end(), point.units,
                                      [](const MeasuredPoint& known, double units) { return known.units < units; });
  if (place != points_.end() && place->units == point.units) {
    *place = point;
  } else {
    points_.insert(place, point);
  }
  try {
    refit();
  } catch (...) {
    points_ = std::move(before);
    refit();
    throw;
  }
}

}  // namespace steelyard::models
