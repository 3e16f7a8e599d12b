#include <algorithm>
#include <boost/math/interpolators/makima.hpp>
#include <cmath>

#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {

AkimaModel::AkimaModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(points, max_units) {
  for (const MeasuredPoint& point : points) {
    ln_units_.push_back(std::log(point.units));
    ln_speeds_.push_back(std::log(point.speed()));
  }
  constexpr std::size_t least = 4;
  if (points.size() < least) {
    spline_ = [x = ln_units_, y = ln_speeds_](double at) {
      const auto right = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
      return std::lerp(y[right - 1], y[right], (at - x[right - 1]) / (x[right] - x[right - 1]));
    };
  } else {
    spline_ = boost::math::interpolators::makima<std::vector<double>>(std::vector(ln_units_), std::vector(ln_speeds_));
  }
}

double AkimaModel::fitted_speed(double units) const {
  const double at = std::log(units);  // that of 0 is before every point
  if (at <= ln_units_.front()) return std::exp(ln_speeds_.front());
  if (at >= ln_units_.back()) return std::exp(ln_speeds_.back());
  return std::exp(spline_(at));
}

}  // namespace steelyard::models
