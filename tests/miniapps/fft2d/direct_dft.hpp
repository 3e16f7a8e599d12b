#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "miniapps/fft2d/problem.hpp"

namespace steelyard::fft2d::tests {

using Numbers = std::vector<std::complex<long double>>;

/// The transform by its definition, unscaled, in extended precision: sum over j of x_j exp(sign 2 pi i j k / n).
inline Numbers direct_dft(const Numbers& x, Direction direction) {
  const std::size_t n = x.size();
  const long double sign = direction == Direction::forward ? -1.0L : 1.0L;
  Numbers roots(n);
  for (std::size_t j = 0; j < n; ++j) {
    roots[j] = std::polar(1.0L, sign * 2.0L * std::numbers::pi_v<long double> * static_cast<long double>(j) /
                                    static_cast<long double>(n));
  }
  Numbers sums(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<long double> sum = 0.0L;
    for (std::size_t j = 0; j < n; ++j) sum += x[j] * roots[j * k % n];
    sums[k] = sum;
  }
  return sums;
}

/// Distance in the Euclidean norm, relative to `right`.
inline double relative_distance(const Numbers& x, const Numbers& right) {
  long double distance = 0.0L, length = 0.0L;
  for (std::size_t i = 0; i < right.size(); ++i) {
    distance += std::norm(x[i] - right[i]);
    length += std::norm(right[i]);
  }
  return static_cast<double>(length > 0.0L ? std::sqrt(distance / length) : std::sqrt(distance));
}

}  // namespace steelyard::fft2d::tests
