#pragma once

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Discrete table: the measured times at the measured sizes and nothing between them, for algorithms that make no
/// assumption about the shape. A size that was not measured does not fit. Source: 002, sections 1 and 3.
class TableModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit, or a limit below the smallest size
  explicit TableModel(std::span<const MeasuredPoint> points,
                      double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "table"; }
  /// The largest measured size that fits.
  double max_units() const override { return largest_; }
  double units_within(double time_s) const override;

 private:
  double fitted_speed(double units) const override;
  void refit() override;
  double largest_ = 0.0;
};

}  // namespace steelyard::models
