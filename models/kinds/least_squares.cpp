#include "models/kinds/least_squares.hpp"

#include <Eigen/Core>
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

}  // namespace steelyard::models
