#include "models/speed_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// Between a size that takes at most `time_s` and a larger one that takes longer.
double bisect(const SpeedModel& model, double time_s, double within, double beyond) {
  constexpr int most_bisections = 200;
  for (int i = 0; i < most_bisections; ++i) {
    const double middle = 0.5 * (within + beyond);
    if (!(middle > within && middle < beyond)) break;
    (model.time_s(middle) <= time_s ? within : beyond) = middle;
  }
  return within;
}

}  // namespace

SpeedModel::SpeedModel(double max_units) : max_units_(max_units) {
  if (!(max_units > 0.0)) throw InvalidArgument(fmt::format("limit of {} units (expected a number > 0)", max_units));
}

SpeedModel::SpeedModel(Points points, double max_units) : SpeedModel(max_units) {
  if (points.empty()) throw InvalidArgument("speed model of no points (expected at least one)");
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
  points_.assign(points.begin(), points.end());
}

double SpeedModel::speed(double units) const {
  if (!(units >= 0.0)) throw InvalidArgument(fmt::format("{} computation units (expected a number >= 0)", units));
  return fits(units) ? fitted_speed(units) : 0.0;
}

double SpeedModel::time_s(double units) const {
  const double units_per_s = speed(units);
  if (units == 0.0) return 0.0;
  return units_per_s > 0.0 ? units / units_per_s : std::numeric_limits<double>::infinity();
}

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
    if (!fits(point.units)) break;
    const double deviation = std::abs(time_s(point.units) / point.time_s - 1.0);
    squares = std::fma(deviation, deviation, squares);  // rounded once, however compilers arrange the loop
    ++count;
    if (deviation > error.largest) {
      error.largest = deviation;
      error.at_units = point.units;
    }
  }
  if (count > 0) error.rms = std::sqrt(squares / count);
  return error;
}

double SpeedModel::units_within(double time_s) const {
  if (!(time_s > 0.0)) return 0.0;
  if (std::isinf(time_s)) return max_units_;
  std::vector<double> ends{0.0};
  for (const double size : breakpoints()) {
    if (size < max_units_) ends.push_back(size);
  }
  if (std::isfinite(max_units_)) ends.push_back(max_units_);
  if (double within = ends.back(); this->time_s(within) <= time_s) {
    if (within == max_units_) return max_units_;
    double beyond = within > 0.0 ? 2.0 * within : 1.0;
    while (this->time_s(beyond) <= time_s) {
      within = std::exchange(beyond, 2.0 * beyond);
      if (std::isinf(beyond)) return within;
    }
    return bisect(*this, time_s, within, beyond);
  }
  constexpr int parts = 32;
  for (std::size_t i = ends.size() - 1; i > 0; --i) {
    double beyond = ends[i];
    for (int part = parts - 1; part >= 0; --part) {
      const double within = std::lerp(ends[i - 1], ends[i], static_cast<double>(part) / parts);
      if (this->time_s(within) <= time_s) return bisect(*this, time_s, within, beyond);
      beyond = within;
    }
  }
  return 0.0;
}

}  // namespace steelyard::models
