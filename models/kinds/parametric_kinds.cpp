// Formulas with few parameters: saturating speed, and sine with plateau.
#include <Eigen/Core>
#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {
namespace {

/// Fits `factor` times a shape to the points' speeds: the problem is linear in it.
struct Scaled {
  double factor = 0.0;
  double squares = 0.0;
};
template <class Form>
Scaled scale(Points points, const Form& shape) {
  if (points.empty()) return {};
  double linear = 0.0, square = 0.0;
  for (const MeasuredPoint& point : points) {
    const double share = shape(point.units) / point.speed();
    linear += share;
    square += share * share;
  }
  return {linear / square, static_cast<double>(points.size()) - linear * linear / square};
}

double rise(double b, double units) { return -std::expm1(-b * units); }

/// Relative deviations of a (1 - exp(-b x)) from the points' speeds, by ln a and ln b, so that both parameters stay
/// positive; a problem as Eigen's solver asks for it.
struct Deviations {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Points points;
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

}  // namespace

SaturatingModel::SaturatingModel(Points points, double max_units) : SpeedModel(points, max_units) {
  Eigen::NumericalDiff<Deviations> deviations(Deviations{points});
  constexpr int starts = 60;
  // What no measurement can tell apart; of such fits the most constant one is taken, which promises least beyond the
  // points.
  constexpr double indistinct = 1e-15;
  Eigen::VectorXd best;
  double best_squares = 0.0;
  for (int i = 0; i < starts; ++i) {
    const double ln_b = std::lerp(deviations.most_ln_b, deviations.least_ln_b, static_cast<double>(i) / (starts - 1));
    // For a given b the best a is known.
    const auto shape = [b = std::exp(ln_b)](double units) { return rise(b, units); };
    const Eigen::VectorXd start = Eigen::Vector2d(std::log(scale(points, shape).factor), ln_b);
    const double squares = deviations.squares(start);
    if (i == 0 || squares < best_squares - indistinct) {
      best = start;
      best_squares = squares;
    }
  }
  if (deviations.values() >= deviations.inputs()) {
    Eigen::VectorXd found = best;
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Deviations>> solver(deviations);
    solver.minimize(found);
    // A solver that strays leaves NaN, which compares as nothing better.
    if (deviations.squares(found) < best_squares) best = found;
  }
  a_ = std::exp(best[0]);
  b_ = deviations.b(best);
}

double SaturatingModel::fitted_speed(double units) const { return a_ * rise(b_, units); }

namespace {

/// Largest c / b: towards pi the speed vanishes.
constexpr double largest_angle = 0.95 * std::numbers::pi;

/// The sine a sin(x / b) through points that are at most c.
struct Sine {
  double a = 0.0;
  double b = 1.0;
  double squares = 0.0;
};

/// For a given b the best a is known, so this is a search along b alone: many values, from the one that reaches
/// largest_angle at c to nearly a straight line, and then the best near the best of these.
Sine fit_sine(Points points, double c) {
  constexpr int starts = 60;
  constexpr int bits = 28;
  const double least = std::log(c / largest_angle);
  const double step = std::log(100.0) / (starts - 1);
  const auto at = [&](double log_b) {
    const double b = std::exp(log_b);
    const Scaled fit = scale(points, [b](double units) { return std::sin(units / b); });
    return Sine{fit.factor, b, fit.squares};
  };
  Sine best = at(least);
  double best_log_b = least;
  for (int i = 1; i < starts; ++i) {
    const Sine sine = at(least + i * step);
    if (sine.squares < best.squares) {
      best = sine;
      best_log_b = least + i * step;
    }
  }
  std::uintmax_t evaluations = 100;
  const auto found =
      boost::math::tools::brent_find_minima([&](double log_b) { return at(log_b).squares; },
                                            std::max(least, best_log_b - step), best_log_b + step, bits, evaluations);
  return found.second < best.squares ? at(found.first) : best;
}

}  // namespace

SinePlateauModel::SinePlateauModel(Points all, double max_units) : SpeedModel(all, max_units) {
  const auto flat = [](double) { return 1.0; };
  const auto size = static_cast<double>(all.size());
  // Schwarz's criterion: of noise alone, more parameters explain more. Squares that are rounding count as none.
  const auto criterion = [size](double squares, int parameters) {
    constexpr double least_mean = 1e-14;
    return size * std::log(std::max(squares / size, least_mean)) + parameters * std::log(size);
  };
  // Without a sine, or with one through the first `count` points, of which there have to be more than parameters.
  constexpr std::size_t least = 3;
  Scaled plateau = scale(all, flat);
  double best_criterion = criterion(plateau.squares, 1);
  std::size_t best_count = 0;
  Sine best;
  double head_squares = 0.0;
  for (std::size_t count = least; count <= all.size(); ++count) {
    const Points head = all.first(count);
    const Scaled tail = scale(all.subspan(count), flat);
    const int parameters = count == all.size() ? 2 : 4;  // a and b; c and d too where there is a plateau
    // A sine through more points fits no better than the last one did.
    if (criterion(head_squares + tail.squares, parameters) >= best_criterion) continue;
    const Sine sine = fit_sine(head, head.back().units);
    head_squares = sine.squares;
    const double found = criterion(sine.squares + tail.squares, parameters);
    if (found < best_criterion) {
      best_criterion = found;
      best_count = count;
      best = sine;
      plateau = tail;
    }
  }
  c_ = best_count > 0 ? all[best_count - 1].units : 0.0;
  a_ = best.a;
  b_ = best.b;
  // Where everything is sine, the speed stays what it was at the end.
  d_ = best_count < all.size() ? plateau.factor : a_ * std::sin(c_ / b_);
}

double SinePlateauModel::fitted_speed(double units) const {
  return c_ > 0.0 && units <= c_ ? a_ * std::sin(units / b_) : d_;
}

std::vector<double> SinePlateauModel::breakpoints() const {
  std::vector<double> sizes = SpeedModel::breakpoints();
  // Time may fall where the plateau begins, and that size itself belongs to the sine.
  if (c_ > 0.0) sizes.insert(std::upper_bound(sizes.begin(), sizes.end(), c_), std::nextafter(c_, 2.0 * c_));
  return sizes;
}

}  // namespace steelyard::models
