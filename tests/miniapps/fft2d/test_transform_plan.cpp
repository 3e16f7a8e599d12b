#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "miniapps/fft2d/stockham.hpp"
#include "miniapps/fft2d/transform_plan.hpp"

namespace steelyard::fft2d::test_transform_plan {
namespace {

bool has_large_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor <= largest_radix; ++factor) {
    while (n % factor == 0) n /= factor;
  }
  return n > 1;
}

TEST_CASE("Steps multiply up to the length, with few of radix 2; large prime factors make a convolution") {
  for (std::int64_t n = 1; n <= 3000; ++n) {
    const TransformPlan plan = plan_transform(n);
    std::int64_t product = 1;
    for (const int radix : plan.radices) product *= radix;
    INFO(n);
    REQUIRE(plan.points == n);
    REQUIRE(product == plan.transform_length);
    REQUIRE(plan.roots.size() == static_cast<std::size_t>(plan.transform_length));
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

TEST_CASE("A kernel takes along the steps of any length that memory holds") {
  for (const std::int64_t n : {std::int64_t{1} << 22, std::int64_t{1594323}}) {
    CHECK(plan_transform(n).radices.size() <= static_cast<std::size_t>(Steps<double>::most));
  }
}

}  // namespace
}  // namespace steelyard::fft2d::test_transform_plan
