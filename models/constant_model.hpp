#pragma once

#include <limits>
#include <span>

#include "models/measured_point.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// Constant performance model (CPM): t(x) = x / s for every x. Source: 000, section 2.4.2.
class ConstantModel : public SpeedModel {
 public:
  /// @param speed computation units per second, > 0
  /// @throws InvalidArgument for a speed or limit that is not positive
  explicit ConstantModel(double speed, double max_units = std::numeric_limits<double>::infinity());

  /// s = sum of units / sum of seconds, so that long runs count for more.
  /// @throws InvalidArgument without points
  static ConstantModel from_points(std::span<const MeasuredPoint> points,
                                   double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "constant"; }
  double time_s(double units) const override;
  double speed(double units) const override;
  double max_units() const override { return max_units_; }
  double units_within(double time_s) const override;

 private:
  double speed_;
  double max_units_;
};

}  // namespace steelyard::models
