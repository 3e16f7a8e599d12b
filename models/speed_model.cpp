#include "models/speed_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"

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

namespace {

constexpr int parts = 32;
constexpr int most_bisections = 200;

/// Between a size that takes at most `time_s` and a larger one that takes longer.
double bisect(const SpeedModel& model, double time_s, double within, double beyond) {
  for (int i = 0; i < most_bisections; ++i) {
    const double middle = 0.5 * (within + beyond);
    if (!(middle > within && middle < beyond)) break;
    (model.time_s(middle) <= time_s ? within : beyond) = middle;
  }
  return within;
}

}  // namespace

double largest_size_within(const SpeedModel& model, double time_s, std::span<const double> breakpoints) {
  if (!(time_s > 0.0)) return 0.0;
  const double limit = model.max_units();
  if (std::isinf(time_s)) return limit;
  std::vector<double> ends{0.0};
  for (const double size : breakpoints) {
    if (size < limit) ends.push_back(size);
  }
  if (std::isfinite(limit)) {
    ends.push_back(limit);
    if (model.time_s(limit) <= time_s) return limit;
  } else if (model.time_s(ends.back()) <= time_s) {
    double beyond = ends.back() > 0.0 ? 2.0 * ends.back() : 1.0;
    double within = ends.back();
    while (model.time_s(beyond) <= time_s) {
      within = beyond;
      beyond *= 2.0;
      if (std::isinf(beyond)) return within;
    }
    return bisect(model, time_s, within, beyond);
  }
  for (std::size_t i = ends.size() - 1; i > 0; --i) {
    double beyond = ends[i];
    for (int part = parts - 1; part >= 0; --part) {
      const double within =
          part == 0 ? ends[i - 1] : std::lerp(ends[i - 1], ends[i], static_cast<double>(part) / parts);
      if (model.time_s(within) <= time_s) return bisect(model, time_s, within, beyond);
      beyond = within;
    }
  }
  return 0.0;
}

}  // namespace steelyard::models
