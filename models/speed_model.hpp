#pragma once

#include <memory>
#include <string>

namespace steelyard::models {

/// How long one processing unit takes for a number of computation units of one kernel.
/// Source: 000, sections 2.4.1-2.4.2: s(x) = x / t(x).
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;

  /// Name of the fitted kind, such as `piecewise_linear`.
  virtual std::string kind() const = 0;
  /// Seconds for `units` computation units; 0 for 0. @throws InvalidArgument for a negative or NaN number
  virtual double time_s(double units) const = 0;
  /// Computation units per second, x / t(x); the limit for small x at 0.
  virtual double speed(double units) const = 0;
  /// The most computation units that fit into the unit's memory; infinity where unbounded.
  virtual double max_units() const;
  /// The largest x <= max_units() with time_s(x) <= `time_s`: where the line through the origin with slope 1 / `time_s`
  /// meets the speed function. Source: 000, section 2.4.2.
  virtual double units_within(double time_s) const = 0;

 protected:
  /// @throws InvalidArgument unless `units` >= 0
  static void require_units(double units);
};

using SpeedModelPtr = std::unique_ptr<const SpeedModel>;

}  // namespace steelyard::models
