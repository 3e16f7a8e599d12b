#include "miniapps/cavity/profile.hpp"

#include <algorithm>

namespace steelyard::cavity {
namespace {

/// The vertex of the parabola through point `k` and its two neighbours; the point itself at an end or on a straight
/// line.
Extreme vertex(const Profile& profile, std::size_t k) {
  const std::vector<double>& x = profile.coordinates;
  const std::vector<double>& y = profile.values;
  if (k == 0 || k + 1 == x.size()) return {y[k], x[k]};
  const double left = x[k] - x[k - 1];
  const double right = x[k + 1] - x[k];
  const double slope_left = (y[k] - y[k - 1]) / left;
  const double slope_right = (y[k + 1] - y[k]) / right;
  // Divided differences: y = y_k + slope s + curvature s^2 with s the distance from the point.
  const double curvature = (slope_right - slope_left) / (left + right);
  const double slope = (slope_left * right + slope_right * left) / (left + right);
  if (curvature == 0.0) return {y[k], x[k]};
  const double distance = -0.5 * slope / curvature;
  return {y[k] + 0.5 * slope * distance, x[k] + distance};
}

}  // namespace

Interpolation interpolation(std::span<const double> points, double x, std::size_t most) {
  Interpolation result;
  result.count = std::min(most, points.size());
  const auto right = static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), x) - points.begin());
  const std::size_t half = result.count / 2;
  result.first = std::min(right > half ? right - half : 0, points.size() - result.count);
  for (std::size_t k = 0; k < result.count; ++k) {
    const double here = points[result.first + k];
    double weight = 1.0;
    for (std::size_t m = 0; m < result.count; ++m) {
      const double other = points[result.first + m];
      if (m != k) weight *= (x - other) / (here - other);
    }
    result.weight[k] = weight;
  }
  return result;
}

Extreme Profile::minimum() const {
  return vertex(*this, static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin()));
}

Extreme Profile::maximum() const {
  return vertex(*this, static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin()));
}

}  // namespace steelyard::cavity
