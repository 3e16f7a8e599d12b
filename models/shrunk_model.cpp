#include "models/shrunk_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "models/piecewise_linear_model.hpp"
#include "models/polynomial_model.hpp"

namespace steelyard::models {
namespace {

/// Half width of a 95 % confidence interval in standard errors.
constexpr double standard_errors = 1.96;

/// A speed's deviation from the smooth function, and the variance that its measurement adds to it; both relative.
struct Deviation {
  double value = 0.0;
  double variance = 0.0;
};

/// The variance beyond the measurements' own with which the deviations are as large as `freedom` of them may be.
double variance_between(std::span<const Deviation> deviations, double freedom) {
  const auto exceeds = [&](double between) {
    double sum = 0.0;
    for (const Deviation& deviation : deviations) {
      sum += deviation.value * deviation.value / (between + deviation.variance);
    }
    return sum > freedom;
  };
  double least = 0.0, most = 0.0;
  for (const Deviation& deviation : deviations) most += deviation.value * deviation.value / freedom;
  // The sum falls as the variance grows.
  for (int halvings = 0; halvings < 60; ++halvings) {
    const double middle = 0.5 * (least + most);
    (middle > 0.0 && exceeds(middle) ? least : most) = middle;
  }
  return least;
}

}  // namespace

ShrunkModel::ShrunkModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(points, max_units) {
  ShrunkModel::refit();
}

void ShrunkModel::refit() {
  const PolynomialModel smooth(points());
  const double freedom = static_cast<double>(points().size()) - smooth.degree() - 1;
  std::vector<MeasuredPoint> shrunk(points().begin(), points().end());
  roughness_ = 0.0;
  if (freedom >= 1.0) {
    std::vector<Deviation> deviations;
    for (const MeasuredPoint& point : points()) {
      deviations.push_back({point.speed() / smooth.speed(point.units) - 1.0,
                            std::pow(point.confidence_s / (standard_errors * point.time_s), 2)});
    }
    const double between = variance_between(deviations, freedom);
    roughness_ = std::sqrt(between);
    for (std::size_t i = 0; i < shrunk.size(); ++i) {
      const auto [value, variance] = deviations[i];
      if (variance == 0.0) continue;
      const double speed = smooth.speed(shrunk[i].units) * (1.0 + value * between / (between + variance));
      shrunk[i].time_s = shrunk[i].units / speed;
    }
  }
  shrunk_ = std::make_unique<PiecewiseLinearModel>(shrunk, Shape::as_measured, SpeedModel::max_units());
}

double ShrunkModel::fitted_speed(double units) const { return shrunk_->speed(units); }

double ShrunkModel::units_within(double time_s) const { return shrunk_->units_within(time_s); }

std::string ShrunkModel::parameters() const { return fmt::format("roughness {:.1f} %", 100.0 * roughness_); }

}  // namespace steelyard::models
