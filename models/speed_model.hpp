#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::models {

/// How far a model's times are from the measured ones, as shares of these.
struct FitError {
  double rms = 0.0;       ///< root of the mean square over the points
  double largest = 0.0;   ///< over the points, without sign
  double at_units = 0.0;  ///< where it is largest
};

/// How long one processing unit takes for a number of computation units of one kernel. Kinds differ in what they make
/// of the measured points. Source: 000, sections 2.4.1-2.4.2 and 6.1.3: s(x) = x / t(x).
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;

  /// Name of the fitted kind, such as `piecewise_linear`.
  virtual std::string kind() const = 0;
  /// Its fitted parameters by name, in units and seconds; none for a kind that has none but the points.
  virtual std::vector<std::pair<std::string, double>> parameters() const { return {}; }
  /// Seconds for `units` computation units; 0 for 0, infinity for what does not fit.
  /// @throws InvalidArgument for a negative or NaN number
  double time_s(double units) const;
  /// Computation units per second, x / t(x); the limit for small x at 0, 0 for what does not fit.
  /// @throws InvalidArgument for a negative or NaN number
  double speed(double units) const;
  /// The most computation units that fit into the unit's memory; infinity where unbounded.
  virtual double max_units() const { return max_units_; }
  bool fits(double units) const { return units <= max_units(); }
  /// The largest x <= max_units() with time_s(x) <= `time_s`: where the line through the origin with slope 1 / `time_s`
  /// meets the speed function last. Source: 000, section 2.4.2.
  virtual double units_within(double time_s) const;
  /// Sizes, increasing, between which time neither jumps nor has narrow dips.
  virtual std::vector<double> breakpoints() const;

  /// All points that the model was built from, by size; none for a model that was given as a formula.
  std::span<const MeasuredPoint> points() const { return points_; }
  /// Points that the kind's restrictions on the shape left out.
  virtual std::span<const MeasuredPoint> dropped() const { return {}; }
  /// Over all points that fit, dropped ones included.
  FitError fit_error() const;

  /// Adds a point, in place of one of the same size, and fits again. Source: 000, section 6.1.3 (update).
  /// @throws InvalidArgument for a size or time that is not positive and finite; the model is then as before
  void update(const MeasuredPoint& point);

 protected:
  /// @throws InvalidArgument unless `max_units` > 0
  explicit SpeedModel(double max_units);
  /// @throws InvalidArgument for unusable points (see require_points) and unless `max_units` > 0
  SpeedModel(std::span<const MeasuredPoint> points, double max_units);

  /// Units per second for 0 <= `units` <= max_units(); 0 where there is no answer.
  virtual double fitted_speed(double units) const = 0;
  /// Makes the model of points(); the constructors of the kinds call it too.
  virtual void refit() = 0;

 private:
  std::vector<MeasuredPoint> points_;
  double max_units_;
};

using SpeedModelPtr = std::unique_ptr<SpeedModel>;

class SpeedModel;

/// The largest x <= model.max_units() with model.time_s(x) <= `time_s`, for models of any continuous shape: looks at
/// each gap between the breakpoints from the right, in 32 parts, and bisects where the time passes `time_s`; beyond the
/// last breakpoint time has to grow. Dips narrower than a part can be missed.
double largest_size_within(const SpeedModel& model, double time_s, std::span<const double> breakpoints);

}  // namespace steelyard::models
