#pragma once

#include <vector>

#include "models/kinds/polynomial_model.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// A smooth speed, and those of the measured deviations from it that are too large to be noise: for algorithms that
/// look for the fastest sizes, which in a table as measured are the luckiest ones as well. With m the speed of a
/// PolynomialModel of the same n points, d_i = s_i / m(x_i) - 1 and v_i the variance of d_i,
///   s(x) = m(x) (1 + D(x)),   D(x_i) = d_i max(0, 1 - 2 ln(n) v_i / d_i^2),
/// D being linear between points and constant beyond them; of n deviations that are all noise, hardly one exceeds
/// sqrt(2 ln(n) v). v_i is (c_i / (1.96 t_i))^2, c_i being the half width of the time's 95 % confidence interval, and
/// at least the median of all points', for an interval can be narrow by luck. Points without an interval stay where
/// they are. Source: Breiman, Better Subset Regression Using the Nonnegative Garrote, 1995; Donoho and Johnstone, Ideal
/// Spatial Adaptation by Wavelet Shrinkage, 1994, for the threshold.
class ShrunkModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit ShrunkModel(std::span<const MeasuredPoint> points,
                       double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "shrunk"; }
  std::vector<std::pair<std::string, double>> parameters() const override;

  /// How many points are beside the smooth function.
  int deviating() const;

 private:
  double fitted_speed(double units) const override;
  void refit() override;

  PolynomialModel smooth_;
  std::vector<double> deviations_;  ///< D at the points
};

}  // namespace steelyard::models
