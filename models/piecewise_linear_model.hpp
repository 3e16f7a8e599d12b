#pragma once

#include <limits>
#include <span>
#include <vector>

#include "models/measured_point.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// Functional performance model whose speed is linear between measured points, constant before the first and after the
/// last. Source: 000, sections 2.4.2 and 6.1.3.
class PiecewiseLinearModel : public SpeedModel {
 public:
  enum class Shape {
    as_measured,      ///< every point counts
    increasing_time,  ///< points are dropped, as few as possible, so that time grows with size: any line through the
                      ///< origin then meets the speed function once (000, section 2.4.2, restriction on the shape)
  };

  /// @param points sizes strictly increasing, times positive
  /// @throws InvalidArgument for no points, unsorted or repeated sizes, times or limit not positive
  explicit PiecewiseLinearModel(std::span<const MeasuredPoint> points, Shape shape = Shape::increasing_time,
                                double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "piecewise_linear"; }
  double time_s(double units) const override;
  double speed(double units) const override;
  double max_units() const override { return max_units_; }
  double units_within(double time_s) const override;

  /// Points that the model passes through.
  std::span<const MeasuredPoint> points() const { return points_; }
  /// Points that `Shape::increasing_time` left out.
  std::span<const MeasuredPoint> dropped() const { return dropped_; }

 private:
  std::vector<MeasuredPoint> points_;
  std::vector<MeasuredPoint> dropped_;
  double max_units_;
  bool increasing_ = true;
};

}  // namespace steelyard::models
