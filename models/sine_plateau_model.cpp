#include "models/sine_plateau_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "models/least_squares.hpp"

namespace steelyard::models {
namespace {

using Points = std::span<const MeasuredPoint>;

/// Largest c / b: towards pi the speed vanishes.
constexpr double largest_angle = 0.95 * std::numbers::pi;

struct Scaled {
  double factor = 0.0;
  double squares = 0.0;
};

/// Fits `factor` times a shape to the points' speeds: the problem is linear in it.
template <class Form>
Scaled scale(Points points, const Form& shape) {
  double linear = 0.0;
  double square = 0.0;
  for (const MeasuredPoint& point : points) {
    const double share = shape(point.units) / point.speed();
    linear += share;
    square += share * share;
  }
  if (points.empty()) return {};
  return {linear / square, static_cast<double>(points.size()) - linear * linear / square};
}

}  // namespace

/// A sine through the points that are at most c.
struct SinePlateauModel::Sine {
  double a = 0.0;
  double b = 1.0;
  double squares = 0.0;

  /// The best of many b, from the one that reaches largest_angle at c to nearly a straight line.
  static Sine search(Points points, double c) {
    constexpr int starts = 60;
    Sine best;
    best.squares = std::numeric_limits<double>::infinity();
    for (int i = 0; i < starts; ++i) {
      const double b = c / largest_angle * std::pow(100.0, static_cast<double>(i) / (starts - 1));
      const Scaled fit = scale(points, [b](double units) { return std::sin(units / b); });
      if (fit.squares < best.squares) best = {fit.factor, b, fit.squares};
    }
    return best;
  }

  /// The best near this one, with c / b below largest_angle.
  Sine refined(Points points, double c) const {
    const double least = c / largest_angle;
    const auto b_of = [least](double parameter) { return least * (1.0 + std::exp(parameter)); };
    const Residuals residuals = [&](std::span<const double> at, std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::exp(at[0]) * std::sin(points[i].units / b_of(at[1])) / points[i].speed() - 1.0;
      }
    };
    const std::vector<double> start{std::log(a), std::log(std::max(b / least - 1.0, 1e-6))};
    const std::vector<double> found = fit_least_squares(residuals, start, static_cast<int>(points.size()));
    return {std::exp(found[0]), b_of(found[1]), sum_of_squares(residuals, found, static_cast<int>(points.size()))};
  }
};

SinePlateauModel::SinePlateauModel(Points points, double max_units) : SpeedModel(points, max_units) {
  SinePlateauModel::refit();
}

void SinePlateauModel::refit() {
  const auto flat = [](double) { return 1.0; };
  const Points all = points();
  // Without a sine, or with one through the first `count` points, of which there have to be more than parameters.
  constexpr std::size_t least = 3;
  Scaled plateau = scale(all, flat);
  double best_squares = plateau.squares;
  std::size_t best_count = 0;
  Sine best;
  for (std::size_t count = least; count <= all.size(); ++count) {
    const Points head = all.first(count);
    const Scaled tail = scale(all.subspan(count), flat);
    const Sine sine = Sine::search(head, head.back().units);
    if (sine.squares + tail.squares < best_squares) {
      best_squares = sine.squares + tail.squares;
      best_count = count;
      best = sine;
      plateau = tail;
    }
  }
  c_ = best_count > 0 ? all[best_count - 1].units : 0.0;
  if (best_count > 0) best = best.refined(all.first(best_count), c_);
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
