#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {
namespace {

double rise(double b, double units) { return -std::expm1(-b * units); }

/// The best a for a given b: the problem is linear in it.
double best_a(std::span<const MeasuredPoint> points, double b) {
  double numerator = 0.0;
  double denominator = 0.0;
  for (const MeasuredPoint& point : points) {
    const double share = rise(b, point.units) / point.speed();
    numerator += share;
    denominator += share * share;
  }
  return numerator / denominator;
}

/// Relative deviations of a (1 - exp(-b x)) from the points' speeds, by ln a and ln b, so that both parameters stay
/// positive; a problem as Eigen's solver asks for it.
struct Deviations {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  std::span<const MeasuredPoint> points;
  // From a line through the origin, b x small everywhere, to a constant, b x large everywhere. Beyond, the points say
  // nothing about b, and times that do not grow by more than rounding have no inverse.
  double least_ln_b = std::log(1e-3 / points.back().units);
  double most_ln_b = std::log(30.0 / points.front().units);

  int inputs() const { return 2; }
  int values() const { return static_cast<int>(points.size()); }
  int operator()(const Eigen::VectorXd& at, Eigen::VectorXd& values) const {
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      const MeasuredPoint& point = points[static_cast<std::size_t>(i)];
      values[i] = std::exp(at[0]) * rise(b(at), point.units) / point.speed() - 1.0;
    }
    return 0;
  }
  double b(const Eigen::VectorXd& at) const { return std::exp(std::clamp(at[1], least_ln_b, most_ln_b)); }

  double squares(const Eigen::VectorXd& at) const {
    Eigen::VectorXd deviations(values());
    (*this)(at, deviations);
    double sum = 0.0;
    for (const double deviation : deviations) sum += deviation * deviation;
    return sum;
  }
};

/// The best of a grid of parameters.
Eigen::VectorXd start_of_fit(const Deviations& deviations) {
  constexpr int starts = 60;
  // What no measurement can tell apart; of such fits the most constant one is taken, which promises least beyond the
  // points.
  constexpr double indistinct = 1e-15;
  Eigen::VectorXd best;
  double best_squares = 0.0;
  for (int i = 0; i < starts; ++i) {
    const double ln_b = std::lerp(deviations.most_ln_b, deviations.least_ln_b, static_cast<double>(i) / (starts - 1));
    const Eigen::VectorXd start = Eigen::Vector2d(std::log(best_a(deviations.points, std::exp(ln_b))), ln_b);
    const double squares = deviations.squares(start);
    if (i == 0 || squares < best_squares - indistinct) {
      best = start;
      best_squares = squares;
    }
  }
  return best;
}

}  // namespace

SaturatingModel::SaturatingModel(std::span<const MeasuredPoint> points, double max_units)
    : SpeedModel(points, max_units) {
  Eigen::NumericalDiff<Deviations> deviations(Deviations{points});
  Eigen::VectorXd best = start_of_fit(deviations);
  if (deviations.values() >= deviations.inputs()) {
    Eigen::VectorXd found = best;
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Deviations>> solver(deviations);
    solver.minimize(found);
    // A solver that strays leaves NaN, which compares as nothing better.
    if (deviations.squares(found) < deviations.squares(best)) best = found;
  }
  a_ = std::exp(best[0]);
  b_ = deviations.b(best);
}

double SaturatingModel::fitted_speed(double units) const { return a_ * rise(b_, units); }

}  // namespace steelyard::models
