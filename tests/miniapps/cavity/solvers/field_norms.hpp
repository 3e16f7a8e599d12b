#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace steelyard::cavity::tests {

/// Largest magnitude of all values; 0 without any.
inline double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// Euclidean norm.
inline double norm(const std::vector<double>& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace steelyard::cavity::tests
