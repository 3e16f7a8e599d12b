#pragma once

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Constant performance model (CPM): t(x) = x / s for every x. Source: 000, section 2.4.2.
class ConstantModel : public SpeedModel {
 public:
  /// @param speed computation units per second, > 0
  /// @throws InvalidArgument for a speed or limit that is not positive
  explicit ConstantModel(double speed, double max_units = std::numeric_limits<double>::infinity());

  /// s = sum of units / sum of seconds, so that long runs count for more.
  /// @throws InvalidArgument for unusable points or limit
  explicit ConstantModel(std::span<const MeasuredPoint> points,
                         double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "constant"; }
  std::vector<std::pair<std::string, double>> parameters() const override;
  double units_within(double time_s) const override;

 private:
  double fitted_speed(double) const override { return speed_; }
  void refit() override;
  double speed_;
};

}  // namespace steelyard::models
