#include "miniapps/fft2d/roots_of_unity.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace steelyard::fft2d {

std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  // In eighths of a turn, everything exact: from the nearest quarter, at most half a quarter away.
  const std::int64_t quarter = (4 * k + n / 2) / n;
  const auto rest = static_cast<double>(4 * k - quarter * n);
  const double angle = std::numbers::pi / 2.0 * (rest / static_cast<double>(n));
  double cosine = std::cos(angle), sine = -std::sin(angle);
  // Half a quarter: both have the same length, to the bit.
  if (2.0 * std::abs(rest) == static_cast<double>(n)) sine = std::copysign(cosine, sine);
  // Every quarter turn is a multiplication by -i.
  for (std::int64_t i = 0; i < quarter % 4; ++i) {
    std::swap(cosine, sine);
    sine = -sine;
  }
  return {cosine, sine};
}

std::vector<std::complex<double>> roots_of_unity(std::int64_t n) {
  std::vector<std::complex<double>> roots;
  roots.reserve(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) roots.push_back(root_of_unity(k, n));
  return roots;
}

}  // namespace steelyard::fft2d
