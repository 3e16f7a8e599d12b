#include "models/kinds/constant_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {

ConstantModel::ConstantModel(double speed, double max_units) : SpeedModel(max_units), speed_(speed) {
  if (!(speed > 0.0 && std::isfinite(speed))) {
    throw InvalidArgument(fmt::format("speed {} units/s (expected a finite number > 0)", speed));
  }
}

ConstantModel::ConstantModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(points, max_units) {
  ConstantModel::refit();
}

void ConstantModel::refit() {
  double units = 0.0;
  double seconds = 0.0;
  for (const MeasuredPoint& point : points()) {
    units += point.units;
    seconds += point.time_s;
  }
  speed_ = units / seconds;
}

double ConstantModel::units_within(double time_s) const {
  return time_s > 0.0 ? std::min(max_units(), time_s * speed_) : 0.0;
}

std::vector<std::pair<std::string, double>> ConstantModel::parameters() const { return {{"s", speed_}}; }

}  // namespace steelyard::models
