#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace steelyard::cavity {

/// A value between points as a weighted sum of the values at `count` of them, `first` and those behind it.
struct Interpolation {
  std::size_t first = 0;
  std::size_t count = 0;
  std::array<double, 4> weight{};

  /// @param value_at called with the index of a point
  template <class Value>
  double of(const Value& value_at) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < count; ++k) sum += weight[k] * value_at(first + k);
    return sum;
  }
};

/// The polynomial of Lagrange through the points nearest to `x`: as many on its left as on its right, fewer on one side
/// near the ends. Points may lie unevenly. Four points are exact for cubics, and their error falls with the fourth
/// power of the distance of points, that of a scheme of second order with the second.
/// @param points rising @param most of them to use, 2 or 4; fewer where there are fewer
Interpolation interpolation(std::span<const double> points, double x, std::size_t most);

/// Where a profile is least or largest.
struct Extreme {
  double value = 0.0;
  double coordinate = 0.0;
};

/// A velocity along a line through the cavity, from wall to wall.
struct Profile {
  std::vector<double> coordinates;  ///< rising
  std::vector<double> values;

  /// By the cubic through four points.
  double at(double coordinate) const {
    return interpolation(coordinates, coordinate, 4).of([&](std::size_t k) { return values[k]; });
  }
  /// Of the parabola through the point with the extreme value and its neighbours; at an end, the point itself.
  Extreme minimum() const;
  Extreme maximum() const;
};

}  // namespace steelyard::cavity
