#pragma once

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Measured speeds drawn towards a smooth function as far as they are uncertain, and linear in between: for algorithms
/// that look for the fastest sizes, which in a table as measured are the luckiest ones as well. With m_i the speed of a
/// PolynomialModel of the same points and s_i the measured one, d_i = s_i / m_i - 1,
///   s'_i = m_i (1 + d_i r^2 / (r^2 + v_i)),   v_i = (c_i / (1.96 t_i))^2,
/// c_i being the half width of the mean time's 95 % confidence interval. The roughness r of the true speeds is the one
/// for which sum_i d_i^2 / (r^2 + v_i) = n - degree - 1, or 0 where the intervals explain more than that. Points
/// without an interval stay where they are, as all do where there are no more of them than coefficients.
/// Source: Paule and Mandel, Consensus Values and Weighting Factors, 1982; Efron and Morris, Stein's Estimation Rule
/// and Its Competitors, 1973.
class ShrunkModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit ShrunkModel(std::span<const MeasuredPoint> points,
                       double max_units = std::numeric_limits<double>::infinity());

  std::string kind() const override { return "shrunk"; }
  std::string parameters() const override;
  double units_within(double time_s) const override;

  /// Root of the mean square of what the true speeds deviate from the smooth function, as a share of it.
  double roughness() const { return roughness_; }

 private:
  double fitted_speed(double units) const override;
  void refit() override;

  double roughness_ = 0.0;
  SpeedModelPtr shrunk_;
};

}  // namespace steelyard::models
