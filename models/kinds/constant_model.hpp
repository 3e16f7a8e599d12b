#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// Constant performance model (CPM): t(x) = x / s for every x. Source: 000, section 2.4.2.
class ConstantModel : public SpeedModel {
 public:
  /// @param speed computation units per second, > 0
  /// @throws InvalidArgument for a speed or limit that is not positive
  explicit ConstantModel(double speed, double max_units = no_limit) : SpeedModel(max_units), speed_(speed) {
    if (!(speed > 0.0 && std::isfinite(speed))) {
      throw InvalidArgument(fmt::format("speed {} units/s (expected a finite number > 0)", speed));
    }
  }

  /// s = sum of units / sum of seconds, so that long runs count for more.
  /// @throws InvalidArgument for unusable points or limit
  explicit ConstantModel(std::span<const MeasuredPoint> points, double max_units = no_limit)
      : SpeedModel(points, max_units) {
    double units = 0.0;
    double seconds = 0.0;
    for (const MeasuredPoint& point : points) {
      units += point.units;
      seconds += point.time_s;
    }
    speed_ = units / seconds;
  }

  std::string kind() const override { return "constant"; }
  std::vector<std::pair<std::string, double>> parameters() const override { return {{"s", speed_}}; }
  double units_within(double time_s) const override {
    return time_s > 0.0 ? std::min(max_units(), time_s * speed_) : 0.0;
  }

 private:
  double fitted_speed(double) const override { return speed_; }
  double speed_ = 0.0;
};

}  // namespace steelyard::models
