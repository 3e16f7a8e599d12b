#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

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

bool has_large_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor <= largest_radix; ++factor) {
    while (n % factor == 0) n /= factor;
  }
  return n > 1;
}

TEST_CASE("Steps multiply up to the length, with few of radix 2; large prime factors make a convolution") {
  std::vector<std::int64_t> lengths(3000);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::int64_t n : {std::int64_t{1} << 22, std::int64_t{1594323}}) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    const TransformPlan plan = plan_transform(n);
    std::int64_t product = 1;
    for (const int radix : plan.radices) product *= radix;
    INFO(n);
    REQUIRE(plan.points == n);
    REQUIRE(product == plan.transform_length);
    REQUIRE(plan.radices.size() <= static_cast<std::size_t>(Steps<double>::most));
    REQUIRE(plan.roots.size() == static_cast<std::size_t>(plan.transform_length));
    for (std::int64_t k = 0; k < plan.transform_length; k += 1 + plan.transform_length / 60) {
      REQUIRE(plan.roots[static_cast<std::size_t>(k)] == root_of_unity(k, plan.transform_length));
    }
    REQUIRE(std::count(plan.radices.begin(), plan.radices.end(), 2) <= 1);
    REQUIRE(std::all_of(plan.radices.begin(), plan.radices.end(), [](int radix) { return radix <= largest_radix; }));
    REQUIRE(plan.convolves() == has_large_factor(n));
    if (plan.convolves()) {
      // Long enough not to run into itself, and not twice as long as it has to be.
      REQUIRE(plan.transform_length >= 2 * n - 1);
      REQUIRE(plan.transform_length < 2 * (2 * n - 1));
      REQUIRE(plan.chirp.size() == static_cast<std::size_t>(n));
      REQUIRE(plan.filter.size() == static_cast<std::size_t>(plan.transform_length));
    } else {
      REQUIRE(plan.transform_length == n);
    }
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_stockham
