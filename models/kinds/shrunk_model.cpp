#include <algorithm>
#include <cmath>

#include "core/base/statistics.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {
namespace {

/// Half width of a 95 % confidence interval in standard errors.
constexpr double standard_errors = 1.96;

/// Variances of the points' speeds as shares of these, 0 where there is no interval.
std::vector<double> variances_of(std::span<const MeasuredPoint> points) {
  std::vector<double> variances, known;
  for (const MeasuredPoint& point : points) {
    variances.push_back(std::pow(point.confidence_s / (standard_errors * point.time_s), 2));
    if (variances.back() > 0.0) known.push_back(variances.back());
  }
  if (known.empty()) return variances;
  const double least = median(known);
  for (double& variance : variances) {
    if (variance > 0.0) variance = std::max(variance, least);
  }
  return variances;
}

}  // namespace

ShrunkModel::ShrunkModel(std::span<const MeasuredPoint> points, double max_units)
    : SpeedModel(points, max_units), smooth_(points) {
  const std::vector<double> variances = variances_of(points);
  const double threshold = 2.0 * std::log(static_cast<double>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double deviation = points[i].speed() / smooth_.speed(points[i].units) - 1.0;
    const double square = deviation * deviation;
    deviations_.push_back(square > threshold * variances[i] ? deviation * (1.0 - threshold * variances[i] / square)
                                                            : 0.0);
  }
}

double ShrunkModel::fitted_speed(double units) const {
  const auto [left, right, share] = place_among(points(), units);
  return smooth_.speed(units) * (1.0 + std::lerp(deviations_[left], deviations_[right], share));
}

std::vector<std::pair<std::string, double>> ShrunkModel::parameters() const {
  const auto beside = std::ranges::count_if(deviations_, [](double deviation) { return deviation != 0.0; });
  return {{"degree", smooth_.degree()}, {"points beside it", static_cast<double>(beside)}};
}

}  // namespace steelyard::models
