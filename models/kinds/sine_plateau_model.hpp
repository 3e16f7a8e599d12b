#pragma once

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Speed of a CPU whose cache holds small sizes: s(x) = a sin(x / b) for x <= c, d for larger x, fitted by non-linear
/// least squares of the relative deviations. Whether there is a sine, and a plateau, says Schwarz's criterion. Source:
/// 003, equation 5.3.
class SinePlateauModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit SinePlateauModel(std::span<const MeasuredPoint> points,
                            double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "sine_plateau"; }
  std::vector<std::pair<std::string, double>> parameters() const override;
  double a() const { return a_; }  ///< units per second
  double b() const { return b_; }  ///< units; c / b < pi, so that speed stays positive
  double c() const {
    return c_;
  }                                ///< units; 0 where no sine explains more than noise would, the largest measured
                                   ///< size where there is no plateau
  double d() const { return d_; }  ///< units per second

 private:
  struct Sine;
  double fitted_speed(double units) const override;
  void refit() override;
  std::vector<double> breakpoints() const override;

  double a_ = 0.0;
  double b_ = 1.0;
  double c_ = 0.0;
  double d_ = 0.0;
};

}  // namespace steelyard::models
