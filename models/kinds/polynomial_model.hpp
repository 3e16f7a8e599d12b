#pragma once

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Smoothed functional performance model: speed is a polynomial of the size, fitted by least squares of the relative
/// deviations, and constant before the first and after the last point. It never leaves the range of the measured
/// speeds. A point that is less than half as fast as its neighbours counts relative to their speed, so that it does
/// not outweigh them. Source: 002, section 6 (smooth-FPM).
class PolynomialModel : public SpeedModel {
 public:
  /// @param degree 0: the lowest, up to 8, that predicts points left out of the fit as well as the best one does,
  /// within the standard error of that comparison
  /// @throws InvalidArgument for unusable points or limit, or a degree that is negative or above 30
  explicit PolynomialModel(std::span<const MeasuredPoint> points, int degree = 0,
                           double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "polynomial"; }
  std::vector<std::pair<std::string, double>> parameters() const override;
  /// Degree of the fitted polynomial; at most the number of points less one.
  int degree() const { return static_cast<int>(coefficients_.size()) - 1; }

 private:
  double fitted_speed(double units) const override;
  void refit() override;

  int wanted_degree_;
  std::vector<double> coefficients_;  ///< of Chebyshev polynomials on the measured range
  double slowest_ = 0.0;
  double fastest_ = 0.0;
};

}  // namespace steelyard::models
