#pragma once

#include <functional>

#include "models/fpm_file.hpp"
#include "models/shape.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

// The kinds of speed models that are made of measured points. All constructors throw InvalidArgument for unusable
// points, see SpeedModel, and for limits that are not positive.

/// Constant performance model (CPM): t(x) = x / s for every x. Source: 000, section 2.4.2.
class ConstantModel : public SpeedModel {
 public:
  /// @param speed computation units per second
  /// @throws InvalidArgument also for a speed that is not positive and finite
  explicit ConstantModel(double speed, double max_units = no_limit);
  /// s = sum of units / sum of seconds, so that long runs count for more.
  explicit ConstantModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "constant"; }
  std::vector<std::pair<std::string, double>> parameters() const override { return {{"s", speed_}}; }
  double units_within(double time_s) const override;

 private:
  double fitted_speed(double) const override { return speed_; }
  double speed_ = 0.0;
};

/// Functional performance model (FPM) whose speed is linear between measured points, constant before the first and
/// after the last. Source: 000, sections 2.4.1-2.4.2 and 6.1.3.
class PiecewiseLinearModel : public SpeedModel {
 public:
  explicit PiecewiseLinearModel(Points points, Shape shape = Shape::increasing_time, double max_units = no_limit);

  std::string kind() const override { return "piecewise_linear"; }
  double units_within(double time_s) const override;
  Points dropped() const override { return dropped_; }

 private:
  double fitted_speed(double units) const override { return interpolated_speed(kept_, units); }
  std::vector<MeasuredPoint> kept_, dropped_;
  bool increasing_ = true;  ///< time grows from point to point
};

/// FPM through all points whose speed is smooth: an Akima spline with modified weights of ln s over ln x, so that it
/// stays positive and that sizes of every magnitude count alike; with fewer than four points, straight lines in these.
/// Constant before the first and after the last point. Source: 000, section 6.1.3.
class AkimaModel : public SpeedModel {
 public:
  explicit AkimaModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "akima"; }

 private:
  double fitted_speed(double units) const override;
  std::vector<double> ln_units_, ln_speeds_;
  std::function<double(double)> spline_;  ///< ln s by ln x, between the first and the last point
};

/// Discrete table: the measured times at the measured sizes and nothing between them, for algorithms that make no
/// assumption about the shape. A size that was not measured does not fit, and max_units() is the largest measured size
/// within the limit. Source: 002, sections 1 and 3.
class TableModel : public SpeedModel {
 public:
  /// @throws InvalidArgument also for a limit below the smallest size
  explicit TableModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "table"; }
  double units_within(double time_s) const override;

 private:
  double fitted_speed(double units) const override;
};

/// Smoothed FPM: speed is a polynomial of the size, fitted by least squares of the relative deviations, and constant
/// before the first and after the last point. Its degree is the lowest, up to 8, that predicts points left out of the
/// fit as well as the best one does, within the standard error of that comparison. It never leaves the range of the
/// measured speeds. A point that is less than half as fast as its neighbours counts relative to their speed, so that it
/// does not outweigh them. Source: 002, section 6 (smooth-FPM).
class PolynomialModel : public SpeedModel {
 public:
  explicit PolynomialModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "polynomial"; }
  std::vector<std::pair<std::string, double>> parameters() const override { return {{"degree", degree()}}; }
  /// Degree of the fitted polynomial; at most the number of points less one.
  int degree() const { return static_cast<int>(coefficients_.size()) - 1; }

 private:
  double fitted_speed(double units) const override;
  std::vector<double> coefficients_;  ///< of Chebyshev polynomials on the measured range
  double slowest_ = 0.0, fastest_ = 0.0;
};

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
  explicit ShrunkModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "shrunk"; }
  /// The degree of m and how many points are beside it.
  std::vector<std::pair<std::string, double>> parameters() const override;

 private:
  double fitted_speed(double units) const override;
  PolynomialModel smooth_;
  std::vector<double> deviations_;  ///< D at the points
};

/// Speed that approaches an asymptote, as of a GPU: s(x) = a (1 - exp(-b x)), a and b > 0, fitted by non-linear least
/// squares of the relative deviations, with b from 0.001 / x of the last point, where the points are on a line through
/// the origin, to 30 / x of the first one, where they are on a constant; one point makes a constant. Source: 003,
/// equation 5.2.
class SaturatingModel : public SpeedModel {
 public:
  explicit SaturatingModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "saturating"; }
  std::vector<std::pair<std::string, double>> parameters() const override { return {{"a", a_}, {"b", b_}}; }

 private:
  double fitted_speed(double units) const override;
  double a_ = 0.0;  ///< units per second
  double b_ = 0.0;  ///< per unit
};

/// Speed of a CPU whose cache holds small sizes: s(x) = a sin(x / b) for x <= c, d for larger x, fitted by non-linear
/// least squares of the relative deviations. Whether there is a sine, and a plateau, says Schwarz's criterion. Source:
/// 003, equation 5.3.
class SinePlateauModel : public SpeedModel {
 public:
  explicit SinePlateauModel(Points points, double max_units = no_limit);

  std::string kind() const override { return "sine_plateau"; }
  std::vector<std::pair<std::string, double>> parameters() const override {
    return {{"a", a_}, {"b", b_}, {"c", c_}, {"d", d_}};
  }

 private:
  double fitted_speed(double units) const override;
  std::vector<double> breakpoints() const override;
  double a_ = 0.0;  ///< units per second
  double b_ = 1.0;  ///< units; c / b < pi, so that speed stays positive
  double c_ = 0.0;  ///< units; 0 where there is no sine, the largest measured size where there is no plateau
  double d_ = 0.0;  ///< units per second
};

/// A processing unit whose memory holds `in_core_units` and that was measured beyond them too, where its kernel works
/// on data that lie elsewhere: one model for each of the two regimes. Source: 000, section 4.1.1 (g(x), out-of-core).
class OutOfCoreModel : public SpeedModel {
 public:
  /// How both models are made of their points.
  using Build = std::function<SpeedModelPtr(Points points, double max_units)>;

  /// @param in_core_units where the regime changes; this size itself is in core
  /// @throws InvalidArgument also without points in both regimes
  OutOfCoreModel(Points points, double in_core_units, double max_units, const Build& build);

  std::string kind() const override { return in_core_->kind(); }
  double units_within(double time_s) const override;
  std::vector<double> breakpoints() const override;
  Points dropped() const override { return dropped_; }

 private:
  double fitted_speed(double units) const override;
  double in_core_units_;
  SpeedModelPtr in_core_, out_of_core_;
  std::vector<MeasuredPoint> dropped_;
};

/// A kind of speed model under the name that the command line uses.
struct ModelKind {
  std::string name;
  /// @param shape of `piecewise_linear`
  SpeedModelPtr (*build)(Points points, double max_units, Shape shape);
};

/// Every kind.
std::span<const ModelKind> model_kinds();

/// @throws InvalidArgument naming the kinds that there are
const ModelKind& find_model_kind(const std::string& name);

/// The model of a file's points and memory limits: an OutOfCoreModel where there are points within and beyond
/// `in_core_units`, which otherwise end the model. Points beyond alone stand for all sizes.
/// @throws InvalidArgument for an unknown kind or points that it cannot be built from, or that take less than 1e-15 s
/// or more than 1e15 s
SpeedModelPtr make_model(const FpmFile& file, const std::string& kind = "piecewise_linear",
                         Shape shape = Shape::increasing_time);

}  // namespace steelyard::models
