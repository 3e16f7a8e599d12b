#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "miniapps/fft2d/rows/stockham.hpp"

namespace steelyard::fft2d::test_stockham {
namespace {

TEST_CASE("Roots are right to the last bit but one") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 100, 1023, 4096, 7919, 1 << 20}) {
    double worst = 0.0;
    for (std::int64_t k = 0; k < n; k += 1 + n / 5000) {
      const long double angle =
          2.0L * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
      const std::complex<double> root = root_of_unity(k, n);
      worst = std::max(worst, static_cast<double>(std::abs(root.real() - std::cos(angle))));
      worst = std::max(worst, static_cast<double>(std::abs(root.imag() + std::sin(angle))));
    }
    CAPTURE(n);
    CHECK(worst <= std::numeric_limits<double>::epsilon());
  }
}

TEST_CASE("Quarter turns are exact, and roots have the symmetries of the circle to the bit") {
  for (const std::int64_t n : {4, 8, 20, 1024, 5040}) {
    CHECK(root_of_unity(0, n) == std::complex<double>(1.0, 0.0));
    CHECK(root_of_unity(n / 4, n) == std::complex<double>(0.0, -1.0));
    CHECK(root_of_unity(n / 2, n) == std::complex<double>(-1.0, 0.0));
    CHECK(root_of_unity(3 * n / 4, n) == std::complex<double>(0.0, 1.0));
    for (std::int64_t k = 1; k < n; ++k) CHECK(root_of_unity(n - k, n) == std::conj(root_of_unity(k, n)));
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_stockham
