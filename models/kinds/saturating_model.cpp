#include "models/kinds/saturating_model.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>
#include <utility>

namespace steelyard::models {

namespace {

/// Problem as Eigen's solver asks for it.
struct Problem {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const Residuals* residuals;
  int parameter_count;
  int residual_count;

  int inputs() const { return parameter_count; }
  int values() const { return residual_count; }
  int operator()(const Eigen::VectorXd& at, Eigen::VectorXd& values) const {
    (*residuals)({at.data(), static_cast<std::size_t>(at.size())},
                 {values.data(), static_cast<std::size_t>(values.size())});
    return 0;
  }
};

}  // namespace

double sum_of_squares(const Residuals& residuals, std::span<const double> parameters, int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  residuals(parameters, values);
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum;
}

std::vector<double> fit_least_squares(const Residuals& residuals, std::vector<double> start, int count) {
  const auto parameter_count = static_cast<int>(start.size());
  if (count < parameter_count) return start;
  Eigen::NumericalDiff<Problem> problem(Problem{&residuals, parameter_count, count});
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Problem>> solver(problem);
  Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(start.data(), parameter_count);
  solver.minimize(at);
  std::vector<double> found(at.begin(), at.end());
  // A solver that strays leaves NaN, which compares as nothing better.
  return sum_of_squares(residuals, found, count) < sum_of_squares(residuals, start, count) ? found : start;
}

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

}  // namespace

SaturatingModel::SaturatingModel(std::span<const MeasuredPoint> points, double max_units)
    : SpeedModel(points, max_units) {
  SaturatingModel::refit();
}

void SaturatingModel::refit() {
  const auto count = static_cast<int>(points().size());
  // From a line through the origin, b x small everywhere, to a constant, b x large everywhere. Beyond, the points say
  // nothing about b, and times that do not grow by more than rounding have no inverse.
  const double least = std::log(1e-3 / points().back().units);
  const double most = std::log(30.0 / points().front().units);
  // In logarithms, both parameters stay positive.
  const auto b_of = [&](double log) { return std::exp(std::clamp(log, least, most)); };
  const Residuals residuals = [&](std::span<const double> logs, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::exp(logs[0]) * rise(b_of(logs[1]), points()[i].units) / points()[i].speed() - 1.0;
    }
  };
  constexpr int starts = 60;
  // What no measurement can tell apart; of such fits the most constant one is taken, which promises least beyond the
  // points.
  constexpr double indistinct = 1e-15;
  std::vector<double> best;
  double best_squares = 0.0;
  for (int i = 0; i < starts; ++i) {
    const double log_b = std::lerp(most, least, static_cast<double>(i) / (starts - 1));
    const std::vector<double> start{std::log(best_a(points(), std::exp(log_b))), log_b};
    const double squares = sum_of_squares(residuals, start, count);
    if (best.empty() || squares < best_squares - indistinct) {
      best = start;
      best_squares = squares;
    }
  }
  best = fit_least_squares(residuals, best, count);
  a_ = std::exp(best[0]);
  b_ = b_of(best[1]);
}

double SaturatingModel::fitted_speed(double units) const { return a_ * rise(b_, units); }

std::vector<std::pair<std::string, double>> SaturatingModel::parameters() const { return {{"a", a_}, {"b", b_}}; }

}  // namespace steelyard::models
