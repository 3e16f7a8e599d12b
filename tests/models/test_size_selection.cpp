#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/size_selection.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_size_selection {

using namespace steelyard::models;
using tests::Random;
using tests::whole;
using Sizes = std::vector<std::int64_t>;

TEST_CASE("sizes increase from the smallest to the largest and are as many as asked for or fewer") {
  Random random(1);
  const auto sizes_of = GENERATE(linear_sizes, geometric_sizes);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t smallest = whole(random, 1, 1000);
    const std::int64_t largest = smallest + whole(random, 1, trial % 2 == 0 ? 20 : 1000000);
    const int count = whole(random, 2, 60);
    const Sizes sizes = sizes_of(smallest, largest, count);
    REQUIRE(sizes.front() == smallest);
    REQUIRE(sizes.back() == largest);
    REQUIRE(static_cast<int>(sizes.size()) <= count);
    REQUIRE(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
  }
}

TEST_CASE("linear sizes are within half a unit of equal steps") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t smallest = whole(random, 1, 1000), largest = smallest + whole(random, 1000, 100000);
    const int count = whole(random, 2, 100);
    const Sizes sizes = linear_sizes(smallest, largest, count);
    REQUIRE(static_cast<int>(sizes.size()) == count);
    for (int i = 0; i < count; ++i) {
      const double exact = static_cast<double>(smallest) + static_cast<double>(largest - smallest) * i / (count - 1);
      REQUIRE(std::abs(static_cast<double>(sizes[static_cast<std::size_t>(i)]) - exact) <= 0.5 + 1e-6);
    }
  }
}

TEST_CASE("geometric sizes are within half a unit of equal ratios") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int64_t smallest = whole(random, 100, 1000), largest = smallest * whole(random, 10, 1000);
    const int count = whole(random, 2, 50);
    const Sizes sizes = geometric_sizes(smallest, largest, count);
    REQUIRE(static_cast<int>(sizes.size()) == count);
    const double ratio = std::pow(static_cast<double>(largest) / static_cast<double>(smallest), 1.0 / (count - 1));
    double exact = static_cast<double>(smallest);
    for (const std::int64_t size : sizes) {
      REQUIRE(std::abs(static_cast<double>(size) - exact) <= 0.5 + 1e-9 * exact);
      exact *= ratio;
    }
  }
}

TEST_CASE("where there are fewer whole sizes than asked for, linear sizes are all of them") {
  const Sizes all{3, 4, 5, 6, 7};
  CHECK(linear_sizes(3, 7, 5) == all);
  CHECK(linear_sizes(3, 7, 50) == all);
  CHECK(linear_sizes(7, 7, 1) == Sizes{7});
  CHECK(linear_sizes(7, 7, 9) == Sizes{7});
  CHECK(geometric_sizes(1, 8, 4) == Sizes{1, 2, 4, 8});
  CHECK(geometric_sizes(1, 3, 40) == Sizes{1, 2, 3});
  CHECK(linear_sizes(1, 10, 2) == Sizes{1, 10});
}

TEST_CASE("large sizes keep their exact ends") {
  constexpr std::int64_t large = 9007199254740993;  // not a double
  for (const auto sizes_of : {linear_sizes, geometric_sizes}) {
    const Sizes sizes = sizes_of(large - 2, large, 3);
    CHECK(sizes.front() == large - 2);
    CHECK(sizes.back() == large);
  }
}

TEST_CASE("ends or counts that mean nothing are refused") {
  const auto sizes_of = GENERATE(linear_sizes, geometric_sizes);
  CHECK_THROWS_AS(sizes_of(0, 10, 5), InvalidArgument);
  CHECK_THROWS_AS(sizes_of(-3, 10, 5), InvalidArgument);
  CHECK_THROWS_AS(sizes_of(11, 10, 5), InvalidArgument);
  CHECK_THROWS_AS(sizes_of(1, 10, 1), InvalidArgument);
  CHECK_THROWS_AS(sizes_of(1, 10, 0), InvalidArgument);
  CHECK_THROWS_AS(sizes_of(5, 5, 0), InvalidArgument);
  CHECK_NOTHROW(sizes_of(5, 5, 1));
}

}  // namespace steelyard::test_size_selection
