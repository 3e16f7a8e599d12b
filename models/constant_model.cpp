#include "models/constant_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {

ConstantModel::ConstantModel(double speed, double max_units) : speed_(speed), max_units_(max_units) {
  if (!(speed > 0.0 && std::isfinite(speed))) {
    throw InvalidArgument(fmt::format("speed {} units/s (expected a finite number > 0)", speed));
  }
  if (!(max_units > 0.0)) throw InvalidArgument(fmt::format("limit of {} units (expected a number > 0)", max_units));
}

ConstantModel ConstantModel::from_points(std::span<const MeasuredPoint> points, double max_units) {
  double units = 0.0;
  double seconds = 0.0;
  for (const MeasuredPoint& point : points) {
    units += point.units;
    seconds += point.time_s;
  }
  if (points.empty()) throw InvalidArgument("constant model of no points (expected at least one)");
  return ConstantModel(units / seconds, max_units);
}

double ConstantModel::time_s(double units) const {
  require_units(units);
  return units / speed_;
}

double ConstantModel::speed(double units) const {
  require_units(units);
  return speed_;
}

double ConstantModel::units_within(double time_s) const { return std::min(max_units_, std::max(0.0, time_s) * speed_); }

}  // namespace steelyard::models
