#pragma once

#include <memory>

#include "models/speed_model.hpp"

namespace steelyard::models {

/// Functional performance model through all points whose speed is smooth: an Akima spline with modified weights of ln s
/// over ln x, so that it stays positive and that sizes of every magnitude count alike; with fewer than four points,
/// straight lines in these. Constant before the first and after the last point. Source: 000, section 6.1.3.
class AkimaModel : public SpeedModel {
 public:
  /// @throws InvalidArgument for unusable points or limit
  explicit AkimaModel(std::span<const MeasuredPoint> points,
                      double max_units = std::numeric_limits<double>::infinity());
  ~AkimaModel() override;

  std::string kind() const override { return "akima"; }

 private:
  struct Spline;
  double fitted_speed(double units) const override;
  void refit() override;
  std::unique_ptr<const Spline> spline_;
};

}  // namespace steelyard::models
