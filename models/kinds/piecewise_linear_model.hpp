#pragma once

#include "models/shape.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// Functional performance model whose speed is linear between measured points, constant before the first and after the
/// last. Source: 000, sections 2.4.1-2.4.2 and 6.1.3.
class PiecewiseLinearModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit PiecewiseLinearModel(std::span<const MeasuredPoint> points, Shape shape = Shape::increasing_time,
                                double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "piecewise_linear"; }
  double units_within(double time_s) const override;

  /// Points that the model passes through.
  std::span<const MeasuredPoint> kept() const { return kept_; }
  std::span<const MeasuredPoint> dropped() const override { return dropped_; }

 private:
  double fitted_speed(double units) const override;
  void refit() override;

  Shape shape_;
  std::vector<MeasuredPoint> kept_;
  std::vector<MeasuredPoint> dropped_;
  bool increasing_ = true;
};

}  // namespace steelyard::models
