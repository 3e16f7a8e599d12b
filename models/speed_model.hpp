#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::models {

inline constexpr double no_limit = std::numeric_limits<double>::infinity();

/// How far predicted times are from the measured ones, as shares of these.
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
  double max_units() const { return max_units_; }
  bool fits(double units) const { return units <= max_units_; }
  /// The largest x <= max_units() with time_s(x) <= `time_s`: where the line through the origin with slope 1 / `time_s`
  /// meets the speed function last. Source: 000, section 2.4.2. This looks at each gap between the breakpoints from the
  /// right, in 32 parts, of which it may miss narrower dips, and bisects where the time passes `time_s`; beyond the
  /// last breakpoint time has to grow.
  virtual double units_within(double time_s) const;
  /// Sizes, increasing, between which time neither jumps nor has narrow dips.
  virtual std::vector<double> breakpoints() const;
  /// Whether no size takes less time than a smaller one, where that is known without a look at the breakpoints.
  virtual bool is_known_to_grow() const { return false; }

  /// All points that the model was built from, by size; none for a model that was given as a formula.
  Points points() const { return points_; }
  /// Points that the kind's restrictions on the shape left out.
  virtual Points dropped() const { return {}; }
  /// Over all points that fit, dropped ones included.
  FitError fit_error() const;

 protected:
  /// @throws InvalidArgument unless `max_units` > 0
  explicit SpeedModel(double max_units);
  /// @throws InvalidArgument for no points, sizes that do not increase, sizes and times that are not positive and
  /// finite, and unless `max_units` > 0
  SpeedModel(Points points, double max_units);

  void set_max_units(double max_units) { max_units_ = max_units; }
  /// Units per second for 0 <= `units` <= max_units(); 0 where there is no answer.
  virtual double fitted_speed(double units) const = 0;

 private:
  std::vector<MeasuredPoint> points_;
  double max_units_;
};

using SpeedModelPtr = std::unique_ptr<SpeedModel>;

}  // namespace steelyard::models
