#pragma once

#include <functional>

#include "models/speed_model.hpp"

namespace steelyard::models {

/// A processing unit whose memory holds `in_core_units` and that was measured beyond them too, where its kernel works
/// on data that lie elsewhere: one model for each of the two regimes. Source: 000, section 4.1.1 (g(x), out-of-core).
class OutOfCoreModel : public SpeedModel {
 public:
  /// How both models are made of their points.
  using Build = std::function<SpeedModelPtr(std::span<const MeasuredPoint> points, double max_units)>;

  /// @param in_core_units where the regime changes; this size itself is in core
  /// @throws InvalidArgument for unusable points or limits, or without points in both regimes
  OutOfCoreModel(std::span<const MeasuredPoint> points, double in_core_units, double max_units, Build build);

  std::string kind() const override { return in_core_->kind(); }
  /// Limit of the model out of core, which may end before the unit's.
  double max_units() const override { return out_of_core_->max_units(); }
  double units_within(double time_s) const override;
  std::vector<double> breakpoints() const override;
  std::span<const MeasuredPoint> dropped() const override { return dropped_; }
  double in_core_units() const { return in_core_units_; }

 private:
  double fitted_speed(double units) const override;
  void refit() override;

  double in_core_units_;
  Build build_;
  SpeedModelPtr in_core_;
  SpeedModelPtr out_of_core_;
  std::vector<MeasuredPoint> dropped_;
};

}  // namespace steelyard::models
