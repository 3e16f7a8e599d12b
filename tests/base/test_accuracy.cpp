#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::test_accuracy {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using steelyard::InvalidArgument;
using steelyard::percentage_difference;
using steelyard::proportional_error;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

/// Positive values over many orders of magnitude.
class Values {
 public:
  double next() { return std::exp(exponent_(random_)); }

 private:
  std::mt19937_64 random_{20};
  std::uniform_real_distribution<double> exponent_{-40.0, 40.0};
};

}  // namespace

TEST_CASE("percentage difference is symmetric and scale invariant and lies between 0 and 200") {
  Values values;
  for (int i = 0; i < 2000; ++i) {
    const double a = values.next();
    const double b = values.next();
    const double difference = percentage_difference(a, b);
    REQUIRE(difference >= 0.0);
    REQUIRE(difference <= 200.0);
    REQUIRE(difference == percentage_difference(b, a));
    REQUIRE(percentage_difference(1024.0 * a, 1024.0 * b) == difference);
    REQUIRE_THAT(percentage_difference(0.3 * a, 0.3 * b), WithinRel(difference, 1e-9));
  }
}

TEST_CASE("percentage difference is the distance in percent of the mean") {
  CHECK_THAT(percentage_difference(1.0, 3.0), WithinRel(100.0, 1e-14));
  CHECK_THAT(percentage_difference(95.0, 105.0), WithinRel(10.0, 1e-14));
  CHECK(percentage_difference(7.0, 7.0) == 0.0);
  CHECK_THAT(percentage_difference(0.0, 1e-30), WithinRel(200.0, 1e-14));
}

TEST_CASE("percentage difference grows as the second value moves away from the first") {
  double before = -1.0;
  for (double b = 1.0; b < 1e6; b *= 1.5) {
    const double difference = percentage_difference(1.0, b);
    REQUIRE(difference > before);
    before = difference;
  }
}

TEST_CASE("percentage difference holds at the ends of the number range") {
  CHECK(percentage_difference(largest, largest) == 0.0);
  CHECK(percentage_difference(largest, 0.0) == 200.0);
  CHECK_THAT(percentage_difference(largest, largest / 3.0), WithinRel(100.0, 1e-12));
  CHECK(percentage_difference(smallest, smallest) == 0.0);
  CHECK(percentage_difference(0.0, smallest) == 200.0);
  CHECK(percentage_difference(largest, smallest) == 200.0);
}

TEST_CASE("percentage difference refuses what has no percentage and says which values") {
  CHECK_THROWS_AS(percentage_difference(0.0, 0.0), InvalidArgument);
  const double bad = GENERATE(-1.0, -smallest, infinity, -infinity, not_a_number);
  CHECK_THROWS_AS(percentage_difference(bad, 1.0), InvalidArgument);
  CHECK_THROWS_AS(percentage_difference(1.0, bad), InvalidArgument);
  CHECK_THROWS_AS(percentage_difference(bad, bad), InvalidArgument);
  CHECK_THROWS_MATCHES(percentage_difference(-2.5, 17.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("-2.5") && ContainsSubstring("17")));
}

TEST_CASE("proportional error is symmetric and scale invariant and at least 1") {
  Values values;
  for (int i = 0; i < 2000; ++i) {
    const double r = values.next();
    const double e = values.next();
    const double error = proportional_error(r, e);
    REQUIRE(error >= 1.0);
    REQUIRE(error == proportional_error(e, r));
    REQUIRE(proportional_error(0.125 * r, 0.125 * e) == error);
    REQUIRE_THAT(proportional_error(0.3 * r, 0.3 * e), WithinRel(error, 1e-12));
    REQUIRE(proportional_error(r, r) == 1.0);
  }
}

TEST_CASE("proportional error is the factor between measurement and estimate") {
  CHECK(proportional_error(2.0, 1.0) == 2.0);
  CHECK(proportional_error(1.0, 2.0) == 2.0);
  Values values;
  for (int i = 0; i < 500; ++i) {
    const double r = values.next();
    const double factor = 1.0 + values.next();
    REQUIRE_THAT(proportional_error(r, r * factor), WithinRel(factor, 1e-12));
    REQUIRE_THAT(proportional_error(r, r / factor), WithinRel(factor, 1e-12));
  }
}

TEST_CASE("proportional error refuses values that are not positive and finite and says which") {
  const double bad = GENERATE(0.0, -1.0, infinity, -infinity, not_a_number);
  CHECK_THROWS_AS(proportional_error(bad, 1.0), InvalidArgument);
  CHECK_THROWS_AS(proportional_error(1.0, bad), InvalidArgument);
  CHECK_THROWS_MATCHES(proportional_error(0.0, 17.25), InvalidArgument,
                       MessageMatches(ContainsSubstring("0 and 17.25")));
}

TEST_CASE("accuracy text has both measures") {
  CHECK(steelyard::accuracy_text(1.0, 1.1) == "difference 9.5 %, mu 1.10");
  CHECK(steelyard::accuracy_text(2.0, 1.0) == "difference 66.7 %, mu 2.00");
}

}  // namespace steelyard::test_accuracy
