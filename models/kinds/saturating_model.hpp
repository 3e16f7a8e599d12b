#pragma once

#include <functional>
#include <span>
#include <vector>

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Residuals of a parameter vector, as many as there are points.
using Residuals = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

/// The parameters near `start` with the least sum of squared residuals, by Levenberg and Marquardt's method with
/// derivatives from differences. Returns `start` where nothing better is found.
/// @param count residuals; with fewer than parameters, `start` is returned
std::vector<double> fit_least_squares(const Residuals& residuals, std::vector<double> start, int count);

double sum_of_squares(const Residuals& residuals, std::span<const double> parameters, int count);

/// Speed that approaches an asymptote, as of a GPU: s(x) = a (1 - exp(-b x)), a and b > 0, fitted by non-linear least
/// squares of the relative deviations, with b from 0.001 / x of the last point, where the points are on a line through
/// the origin, to 30 / x of the first one, where they are on a constant; one point makes a constant. Source: 003,
/// equation 5.2.
class SaturatingModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit SaturatingModel(std::span<const MeasuredPoint> points,
                           double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "saturating"; }
  std::vector<std::pair<std::string, double>> parameters() const override;
  double a() const { return a_; }  ///< units per second
  double b() const { return b_; }  ///< per unit

 private:
  double fitted_speed(double units) const override;
  void refit() override;
  double a_ = 0.0;
  double b_ = 0.0;
};

}  // namespace steelyard::models
