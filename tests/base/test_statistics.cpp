#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::test_statistics {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();

std::vector<double> normal_sample(std::mt19937_64& random, std::size_t count, double centre, double spread) {
  std::normal_distribution<double> normal(centre, spread);
  std::vector<double> sample(count);
  for (double& value : sample) value = normal(random);
  return sample;
}

std::vector<double> transformed(std::vector<double> sample, double scale, double shift) {
  for (double& value : sample) value = scale * value + shift;
  return sample;
}

/// A sample of `count` values whose standard deviation is sqrt(count), so that its half width is the bare quantile.
std::vector<double> sample_of_unit_error(std::size_t count) {
  std::mt19937_64 random(count);
  const std::vector<double> raw = normal_sample(random, count, 0.0, 1.0);
  return transformed(raw, std::sqrt(static_cast<double>(count)) / standard_deviation(raw), 0.0);
}

}  // namespace

TEST_CASE("the mean of equal values is that value and lies between the extremes otherwise") {
  CHECK(mean(std::array{4.25}) == 4.25);
  CHECK(mean(std::array{1.0, 2.0, 6.0}) == 3.0);
  std::mt19937_64 random(1);
  for (std::size_t count = 1; count < 60; ++count) {
    const std::vector<double> sample = normal_sample(random, count, 3.0, 10.0);
    const auto [low, high] = std::minmax_element(sample.begin(), sample.end());
    REQUIRE(mean(sample) >= *low - 1e-12);
    REQUIRE(mean(sample) <= *high + 1e-12);
    REQUIRE_THAT(mean(std::vector<double>(count, 0.1)), WithinRel(0.1, 1e-14));
  }
}

TEST_CASE("mean follows shift and scale while deviation ignores the shift") {
  std::mt19937_64 random(2);
  for (std::size_t count = 2; count < 60; ++count) {
    const std::vector<double> sample = normal_sample(random, count, 5.0, 2.0);
    const std::vector<double> moved = transformed(sample, -3.0, 100.0);
    REQUIRE_THAT(mean(moved), WithinRel(-3.0 * mean(sample) + 100.0, 1e-12));
    REQUIRE_THAT(median(moved), WithinRel(-3.0 * median(sample) + 100.0, 1e-12));
    REQUIRE_THAT(standard_deviation(moved), WithinRel(3.0 * standard_deviation(sample), 1e-10));
    REQUIRE_THAT(confidence_half_width(moved, 0.95), WithinRel(3.0 * confidence_half_width(sample, 0.95), 1e-10));
    const std::vector<double> scaled = transformed(sample, 7.0, 0.0);
    REQUIRE_THAT(coefficient_of_variation(scaled), WithinRel(coefficient_of_variation(sample), 1e-10));
  }
}

TEST_CASE("no more than half of the values lie on either side of the median") {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> few(0, 5);  // so that values repeat
  for (std::size_t count = 1; count < 80; ++count) {
    std::vector<double> sample(count);
    for (double& value : sample) value = few(random);
    const double middle = median(sample);
    const auto below = std::count_if(sample.begin(), sample.end(), [&](double value) { return value < middle; });
    const auto above = std::count_if(sample.begin(), sample.end(), [&](double value) { return value > middle; });
    REQUIRE(2 * below <= static_cast<std::ptrdiff_t>(count));
    REQUIRE(2 * above <= static_cast<std::ptrdiff_t>(count));
  }
}

TEST_CASE("the median of an even number of values is the mean of the two middle ones") {
  CHECK(median(std::array{9.0}) == 9.0);
  CHECK(median(std::array{4.0, 1.0}) == 2.5);
  CHECK(median(std::array{10.0, -1.0, 2.0, 5.0}) == 3.5);
  CHECK(median(std::array{10.0, -1.0, 2.0}) == 2.0);
}

TEST_CASE("the order of a sample does not change its median or leave the caller's sample sorted") {
  std::mt19937_64 random(4);
  std::vector<double> sample = normal_sample(random, 31, 0.0, 1.0);
  const double middle = median(sample);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(sample.begin(), sample.end(), random);
    const std::vector<double> before = sample;
    REQUIRE(median(sample) == middle);
    REQUIRE(sample == before);
  }
}

TEST_CASE("one wild value moves the mean but not the median beyond its neighbours") {
  const std::array sample{1.0, 2.0, 3.0, 4.0, 1e12};
  CHECK(median(sample) == 3.0);
  CHECK(mean(sample) > 1e11);
  CHECK(median(std::array{1.0, 2.0, infinity}) == 2.0);
  CHECK(median(std::array{largest, largest}) == largest);
}

TEST_CASE("a sample with a value that is not a number has no mean and no median") {
  std::vector<double> sample(100, 1.0);
  sample[50] = not_a_number;
  CHECK(std::isnan(mean(sample)));
  CHECK(std::isnan(median(sample)));
  CHECK(std::isnan(standard_deviation(sample)));
  CHECK(std::isnan(confidence_half_width(sample, 0.95)));
}

TEST_CASE("the standard deviation has the divisor n - 1") {
  CHECK(standard_deviation(std::array{7.0}) == 0.0);
  CHECK(standard_deviation(std::array{5.0, 5.0, 5.0}) == 0.0);
  CHECK_THAT(standard_deviation(std::array{1.0, 3.0}), WithinRel(std::sqrt(2.0), 1e-14));
  CHECK_THAT(standard_deviation(std::array{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}),
             WithinRel(std::sqrt(32.0 / 7.0), 1e-14));
}

TEST_CASE("the standard deviation of values far from zero does not cancel away") {
  const std::array sample{1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0};
  CHECK_THAT(standard_deviation(sample), WithinRel(std::sqrt(30.0), 1e-12));
}

TEST_CASE("the coefficient of variation is deviation over mean and never negative") {
  const std::array sample{2.0, 4.0, 4.0, 6.0};
  CHECK_THAT(coefficient_of_variation(sample), WithinRel(standard_deviation(sample) / 4.0, 1e-14));
  CHECK_THAT(coefficient_of_variation(std::array{-2.0, -4.0, -4.0, -6.0}),
             WithinRel(coefficient_of_variation(sample), 1e-14));
  CHECK(coefficient_of_variation(std::array{3.0}) == 0.0);
  CHECK_THROWS_MATCHES(coefficient_of_variation(std::array{-1.0, 1.0}), InvalidArgument,
                       MessageMatches(ContainsSubstring("mean is 0")));
}

TEST_CASE("half widths are the published quantiles of Student's t times the standard error") {
  struct Row {
    std::size_t freedom;
    double level;
    double quantile;
  };
  // Two-sided critical values as printed in statistical tables.
  const auto row =
      GENERATE(Row{1, 0.90, 6.313752}, Row{1, 0.95, 12.706205}, Row{1, 0.99, 63.656741}, Row{2, 0.95, 4.302653},
               Row{4, 0.95, 2.776445}, Row{4, 0.99, 4.604095}, Row{9, 0.90, 1.833113}, Row{9, 0.95, 2.262157},
               Row{9, 0.99, 3.249836}, Row{10, 0.80, 1.372184}, Row{29, 0.95, 2.045230}, Row{100, 0.95, 1.983972});
  CHECK_THAT(confidence_half_width(sample_of_unit_error(row.freedom + 1), row.level), WithinAbs(row.quantile, 1e-6));
}

TEST_CASE("Student's quantiles are the published ones, and need a degree of freedom") {
  CHECK_THAT(student_quantile(0.90, 1), WithinRel(6.314, 1e-4));
  CHECK_THAT(student_quantile(0.95, 2), WithinRel(4.303, 1e-4));
  CHECK_THAT(student_quantile(0.95, 1000000), WithinRel(1.960, 1e-4));
  CHECK_THROWS_AS(student_quantile(0.95, 0), InvalidArgument);
  CHECK_THROWS_AS(student_quantile(1.0, 3), InvalidArgument);
}

TEST_CASE("half widths of large samples are those of the normal distribution") {
  CHECK_THAT(confidence_half_width(sample_of_unit_error(200000), 0.95), WithinAbs(1.959964, 2e-5));
}

TEST_CASE("a higher level never gives a narrower interval") {
  const std::array sample{1.0, 2.0, 4.0, 8.0};
  double before = 0.0;
  for (const double level : {1e-12, 0.1, 0.5, 0.9, 0.99, 0.999999, 1.0 - 1e-12, std::nextafter(1.0, 0.0)}) {
    const double width = confidence_half_width(sample, level);
    CHECK(width > before);
    CHECK(std::isfinite(width));
    before = width;
  }
}

TEST_CASE("one value has no finite half width and equal values have none at all") {
  CHECK(confidence_half_width(std::array{3.0}, 0.95) == infinity);
  CHECK(confidence_half_width(std::array{3.0, 3.0}, 0.95) == 0.0);
}

TEST_CASE("the interval covers the true mean as often as its level says") {
  std::mt19937_64 random(5);
  const double level = GENERATE(0.80, 0.95);
  const std::size_t count = GENERATE(3U, 10U);
  constexpr int experiments = 4000;
  int covered = 0;
  for (int i = 0; i < experiments; ++i) {
    const std::vector<double> sample = normal_sample(random, count, 1.5, 0.25);
    covered += std::abs(mean(sample) - 1.5) <= confidence_half_width(sample, level) ? 1 : 0;
  }
  CHECK_THAT(static_cast<double>(covered) / experiments, WithinAbs(level, 0.02));
}

TEST_CASE("values are outliers from 3.5 normal deviations on, estimated from the median deviation") {
  const auto of = [](double far) { return count_outliers(std::array{-far, -1.0, -1.0, 0.0, 1.0, 1.0, far}); };
  CHECK(of(1.0) == 0);
  CHECK(of(3.5 / 0.6745 - 1e-9) == 0);
  CHECK(of(3.5 / 0.6745 + 1e-9) == 2);
  CHECK(of(1e300) == 2);
}

TEST_CASE("where more than half of the values are equal the mean deviation takes the place of the median deviation") {
  const auto of = [](std::size_t equal, double other) {
    std::vector<double> sample(equal, 5.0);
    sample.push_back(other);
    return count_outliers(sample);
  };
  // One deviation d among n values has the mean d / n, so what counts is how many there are, not how far it is.
  for (const double other : {-1e6, 4.999, 5.001, 1e6}) {
    CHECK(of(3, other) == 0);
    CHECK(of(4, other) == 1);
    CHECK(of(100, other) == 1);
  }
}

TEST_CASE("values that are equal, or too few to tell, have no outliers") {
  CHECK(count_outliers(std::array{7.0}) == 0);
  CHECK(count_outliers(std::array{7.0, 1e9}) == 0);
  CHECK(count_outliers(std::vector<double>(50, 0.1)) == 0);
}

TEST_CASE("outliers do not depend on order, scale and shift, and are never half of the values") {
  std::mt19937_64 random(6);
  std::cauchy_distribution<double> wild(0.0, 1.0);
  int found = 0;
  for (std::size_t count = 1; count < 120; ++count) {
    std::vector<double> sample(count);
    for (double& value : sample) value = wild(random);
    const int outliers = count_outliers(sample);
    found += outliers;
    REQUIRE(2 * outliers <= static_cast<int>(count));
    REQUIRE(count_outliers(transformed(sample, -4.0, 0.0)) == outliers);
    REQUIRE(count_outliers(transformed(sample, 1.0, 3.0)) == outliers);
    std::shuffle(sample.begin(), sample.end(), random);
    REQUIRE(count_outliers(sample) == outliers);
  }
  CHECK(found > 100);
}

TEST_CASE("hardly any value of a normal sample is an outlier, and a wild one among them always is") {
  std::mt19937_64 random(7);
  CHECK(count_outliers(normal_sample(random, 20000, 1.0, 0.1)) < 20000 / 500);
  for (std::size_t count = 5; count < 100; ++count) {
    std::vector<double> sample = normal_sample(random, count, 1.0, 0.1);
    const int before = count_outliers(sample);
    sample.push_back(100.0);
    sample.push_back(infinity);
    REQUIRE(count_outliers(sample) >= 2);
    REQUIRE(before <= static_cast<int>(count) / 3);
  }
}

TEST_CASE("a value that is not a number makes no outliers of the others") {
  CHECK(count_outliers(std::array{1.0, 1.1, not_a_number, 0.9, 50.0}) == 0);
}

TEST_CASE("an empty sample is refused by name") {
  const std::vector<double> none;
  CHECK_THROWS_AS(count_outliers(none), InvalidArgument);
  CHECK_THROWS_MATCHES(mean(none), InvalidArgument, MessageMatches(ContainsSubstring("mean of an empty sample")));
  CHECK_THROWS_MATCHES(median(none), InvalidArgument, MessageMatches(ContainsSubstring("median of an empty sample")));
  CHECK_THROWS_MATCHES(standard_deviation(none), InvalidArgument, MessageMatches(ContainsSubstring("deviation")));
  CHECK_THROWS_AS(coefficient_of_variation(none), InvalidArgument);
  CHECK_THROWS_MATCHES(confidence_half_width(none, 0.95), InvalidArgument,
                       MessageMatches(ContainsSubstring("confidence interval of an empty sample")));
}

TEST_CASE("a confidence level outside 0 to 1 is refused with its value") {
  const std::array sample{1.0, 2.0};
  const double level = GENERATE(0.0, 1.0, -0.5, 95.0, infinity, not_a_number);
  CHECK_THROWS_AS(confidence_half_width(sample, level), InvalidArgument);
  CHECK_THROWS_AS(confidence_half_width(std::array{1.0}, level), InvalidArgument);
  CHECK_THROWS_MATCHES(confidence_half_width(sample, 95.0), InvalidArgument, MessageMatches(ContainsSubstring("95")));
}

TEST_CASE("the median's interval goes from the k-th value from below to the k-th from above, as tables have k") {
  std::vector<double> sample;
  for (int i = 1; i <= 100; ++i) sample.push_back((i * 37) % 101);  // 1 to 100 in another order
  const auto of_first = [&](int count) {
    std::vector<double> values;
    for (const double value : sample) {
      if (value <= count) values.push_back(value);
    }
    return median_interval(values, 0.95);
  };
  // From published tables of the sign test.
  for (const auto& [count, k] : {std::pair{6, 1}, {8, 1}, {9, 2}, {12, 3}, {15, 4}, {20, 6}, {50, 18}, {100, 40}}) {
    INFO(count << " values");
    CHECK(of_first(count).lower == k);
    CHECK(of_first(count).upper == count + 1 - k);
    CHECK(of_first(count).half_width() == 0.5 * (count + 1 - 2 * k));
  }
}

TEST_CASE("the median's interval has the median of all as often as its level says, whatever the distribution") {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> exponential;  // its median is log 2
  int found = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> sample;
    for (int i = 0; i < 15; ++i) sample.push_back(exponential(random));
    const Interval interval = median_interval(sample, 0.95);
    found += interval.lower <= std::log(2.0) && std::log(2.0) <= interval.upper ? 1 : 0;
  }
  // 1 - 2 (1 + 15 + 105 + 455) / 2^15
  CHECK_THAT(static_cast<double>(found) / trials, WithinAbs(0.9648, 0.012));
}

TEST_CASE("few values say nothing about their median, and wrong samples and levels are refused") {
  const std::vector<double> five{1, 2, 3, 4, 5};
  CHECK(std::isinf(median_interval(five, 0.95).half_width()));
  CHECK(median_interval(five, 0.9).lower == 1.0);
  CHECK_THROWS_AS(median_interval({}, 0.95), InvalidArgument);
  CHECK_THROWS_AS(median_interval(std::vector{1.0, std::nan("")}, 0.95), InvalidArgument);
  for (const double level : {0.0, 1.0, -1.0, std::nan("")})
    CHECK_THROWS_AS(median_interval(five, level), InvalidArgument);
}

TEST_CASE("the interval of a ratio reaches as far as tables of the Mann-Whitney test say") {
  // Ratios i j of 1, 2, …, n beside powers so large that the order of all ratios is known: with k, the interval of two
  // samples leaves out k - 1 of the n m ratios at each end. Critical values of U at 5 %, two-sided, plus one, are k.
  for (const auto& [n, m, k] : {std::tuple{4, 4, 1}, {5, 5, 3}, {6, 6, 6}, {5, 8, 7}, {10, 10, 24}, {15, 20, 91}}) {
    std::vector<double> ones(static_cast<std::size_t>(n), 1.0), others;
    for (int j = 0; j < m; ++j) others.push_back(1.0 + j);
    const Ratio found = ratio(ones, others, 0.95);
    INFO(n << " and " << m << " values");
    CHECK(found.median == 0.5 * (1.0 + m));
    CHECK(found.interval.lower == 1.0 + (k - 1) / n);
    CHECK(found.interval.upper == m - (k - 1) / n);
  }
}

TEST_CASE("the interval of a ratio has the factor between two distributions as often as its level says") {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> values(0.0, 0.3);
  int found = 0;
  constexpr int trials = 3000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> sample, other;
    for (int i = 0; i < 7; ++i) {
      sample.push_back(values(random));
      other.push_back(1.5 * values(random));
    }
    const Interval interval = ratio(sample, other, 0.95).interval;
    found += interval.lower <= 1.5 && 1.5 <= interval.upper ? 1 : 0;
  }
  CHECK_THAT(static_cast<double>(found) / trials, WithinAbs(0.962, 0.015));
}

TEST_CASE("the interval of a ratio of very many values is that of a little fewer") {
  std::vector<double> ones(100, 1.0), others;
  for (int j = 0; j < 101; ++j) others.push_back(1.0 + j);
  const Interval many = ratio(ones, others, 0.95).interval;
  others.pop_back();
  const Interval fewer = ratio(ones, others, 0.95).interval;
  CHECK_THAT(many.lower, WithinAbs(fewer.lower, 1.0));
  CHECK_THAT(many.upper, WithinAbs(fewer.upper + 1.0, 1.0));
}

TEST_CASE("few values say nothing about their ratio, and values that are not positive are refused") {
  const std::vector<double> three{1, 2, 3};
  CHECK(ratio(three, three, 0.95).interval.lower == 0.0);
  CHECK(std::isinf(ratio(three, three, 0.95).interval.upper));
  CHECK(ratio(three, three, 0.95).median == 1.0);
  CHECK_THROWS_AS(ratio(three, {}, 0.95), InvalidArgument);
  CHECK_THROWS_AS(ratio(three, std::vector{1.0, 0.0}, 0.95), InvalidArgument);
  CHECK_THROWS_AS(ratio(three, three, 1.0), InvalidArgument);
}

}  // namespace steelyard::test_statistics
