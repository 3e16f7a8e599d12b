#include "models/kinds/akima_model.hpp"

#include <algorithm>
#include <boost/math/interpolators/makima.hpp>
#include <cmath>
#include <optional>
#include <utility>

namespace steelyard::models {

struct AkimaModel::Spline {
  std::vector<double> x;
  std::vector<double> y;
  std::optional<boost::math::interpolators::makima<std::vector<double>>> smooth;

  explicit Spline(std::span<const MeasuredPoint> points) {
    for (const MeasuredPoint& point : points) {
      x.push_back(std::log(point.units));
      y.push_back(std::log(point.speed()));
    }
    constexpr std::size_t least = 4;
    if (x.size() < least) return;
    std::vector<double> sizes = x;
    std::vector<double> speeds = y;
    smooth.emplace(std::move(sizes), std::move(speeds));
  }

  double operator()(double at) const {
    if (at <= x.front()) return y.front();
    if (at >= x.back()) return y.back();
    if (smooth) return (*smooth)(at);
    const auto right = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
    return std::lerp(y[right - 1], y[right], (at - x[right - 1]) / (x[right] - x[right - 1]));
  }
};

AkimaModel::AkimaModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(points, max_units) {
  AkimaModel::refit();
}

AkimaModel::~AkimaModel() = default;

void AkimaModel::refit() { spline_ = std::make_unique<const Spline>(points()); }

// The logarithm of 0 is before every point.
double AkimaModel::fitted_speed(double units) const { return std::exp((*spline_)(std::log(units))); }

}  // namespace steelyard::models
