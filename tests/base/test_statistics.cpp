#include <span>
#include <tuple>

#include "core/base/statistics.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_statistics {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();

/// A sample of `count` values whose standard deviation is sqrt(count), so that its half width is the bare quantile.
std::vector<double> sample_of_unit_error(std::size_t count) {
  std::mt19937_64 random(count);
  std::normal_distribution<double> normal;
  std::vector<double> sample(count);
  for (double& value : sample) value = normal(random);
  const double scale = std::sqrt(static_cast<double>(count)) / standard_deviation(sample);
  for (double& value : sample) value *= scale;
  return sample;
}

}  // namespace

TEST_CASE("mean, median and deviation are those of a naive sum and of sorted values, and the sample stays as it is") {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> few(0, 5);  // so that values repeat
  for (std::size_t count = 1; count < 80; ++count) {
    const double far = count % 3 == 0 ? 1e9 : 0.0;
    std::vector<double> sample(count);
    for (double& value : sample) value = far + few(random);
    const std::vector<double> before = sample;
    std::vector<double> sorted = sample;
    std::sort(sorted.begin(), sorted.end());
    long double sum = 0.0L, squares = 0.0L;
    for (const double value : sample) sum += value;
    const long double middle = sum / static_cast<long double>(count);
    for (const double value : sample) squares += (value - middle) * (value - middle);
    const double deviation =
        count == 1 ? 0.0 : static_cast<double>(std::sqrt(squares / static_cast<long double>(count - 1)));
    REQUIRE_THAT(mean(sample), WithinRel(static_cast<double>(middle), 1e-14));
    REQUIRE(median(sample) == 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]));
    REQUIRE_THAT(standard_deviation(sample), WithinRel(deviation, 1e-10) || WithinAbs(deviation, 1e-12));
    REQUIRE(sample == before);
    if (middle == 0.0L) continue;
    REQUIRE_THAT(coefficient_of_variation(sample), WithinRel(standard_deviation(sample) / mean(sample), 1e-12));
    for (double& value : sample) value = -value;
    REQUIRE_THAT(coefficient_of_variation(sample), WithinRel(-standard_deviation(sample) / mean(sample), 1e-12));
  }
  CHECK(median(std::array{1.0, 2.0, infinity}) == 2.0);
  CHECK(median(std::array{largest, largest}) == largest);
}

TEST_CASE("a sample with a value that is not a number has no mean, no median and no outliers") {
  std::vector<double> sample(100, 1.0);
  sample[50] = not_a_number;
  CHECK(std::isnan(mean(sample)));
  CHECK(std::isnan(median(sample)));
  CHECK(std::isnan(standard_deviation(sample)));
  CHECK(std::isnan(confidence_half_width(sample, 0.95)));
  CHECK(count_outliers(std::array{1.0, 1.1, not_a_number, 0.9, 50.0}) == 0);
}

TEST_CASE("half widths are the published quantiles of Student's t times the standard error") {
  const struct {
    int freedom;
    double level, quantile;
  } rows[] = {{1, 0.90, 6.313752}, {1, 0.99, 63.656741}, {2, 0.95, 4.302653},  {4, 0.95, 2.776445},
              {9, 0.99, 3.249836}, {10, 0.80, 1.372184}, {29, 0.95, 2.045230}, {100, 0.95, 1.983972}};
  for (const auto& [freedom, level, quantile] : rows) {
    CHECK_THAT(student_quantile(level, freedom), WithinAbs(quantile, 1e-6));
    const std::vector<double> sample = sample_of_unit_error(static_cast<std::size_t>(freedom) + 1);
    CHECK_THAT(confidence_half_width(sample, level), WithinAbs(quantile, 1e-6));
  }
  // Many values are those of the normal distribution; one has no finite half width, and equal ones have none at all.
  CHECK_THAT(confidence_half_width(sample_of_unit_error(200000), 0.95), WithinAbs(1.959964, 2e-5));
  CHECK(confidence_half_width(std::array{3.0}, 0.95) == infinity);
  CHECK(confidence_half_width(std::array{3.0, 3.0}, 0.95) == 0.0);
  CHECK(std::isfinite(confidence_half_width(std::array{1.0, 2.0, 4.0, 8.0}, std::nextafter(1.0, 0.0))));
}

TEST_CASE("values are outliers from 3.5 normal deviations on, estimated from the median deviation or else the mean") {
  const auto of = [](double far) { return count_outliers(std::array{-far, -1.0, -1.0, 0.0, 1.0, 1.0, far}); };
  CHECK(of(3.5 / 0.6745 - 1e-9) == 0);
  CHECK(of(3.5 / 0.6745 + 1e-9) == 2);
  CHECK(of(1e300) == 2);
  // One deviation d among n values has the mean d / n, so what counts is how many there are, not how far it is.
  for (const double other : {-1e6, 4.999, 5.001, 1e6}) {
    for (const std::size_t equal : {1, 3, 4, 100}) {
      std::vector<double> sample(equal, 5.0);
      sample.push_back(other);
      CHECK(count_outliers(sample) == (equal > 3 ? 1 : 0));
    }
  }
  CHECK(count_outliers(std::vector<double>(50, 0.1)) == 0);
}

TEST_CASE("the median's interval goes from the k-th value from below to the k-th from above, as tables have k") {
  const auto of_first = [](int count) {
    std::vector<double> values;
    for (int i = count; i > 0; --i) values.push_back(i);
    return median_interval(values, 0.95);
  };
  // From published tables of the sign test.
  for (const auto& [count, k] : {std::pair{6, 1}, {8, 1}, {9, 2}, {12, 3}, {15, 4}, {20, 6}, {50, 18}, {100, 40}}) {
    INFO(count << " values");
    CHECK(of_first(count).lower == k);
    CHECK(of_first(count).upper == count + 1 - k);
    CHECK(of_first(count).half_width() == 0.5 * (count + 1 - 2 * k));
  }
  CHECK(std::isinf(of_first(5).half_width()));
}

TEST_CASE("the interval of a ratio reaches as far as tables of the Mann-Whitney test say") {
  // Ratios are 1, 2, …, m, each n times; with k, the interval leaves out k - 1 of them at each end. Critical values of
  // U at 5 %, two-sided, plus one, are k.
  for (const auto& [n, m, k] : {std::tuple{4, 4, 1}, {5, 5, 3}, {6, 6, 6}, {5, 8, 7}, {10, 10, 24}, {15, 20, 91}}) {
    std::vector<double> ones(static_cast<std::size_t>(n), 1.0), others;
    for (int j = 0; j < m; ++j) others.push_back(1.0 + j);
    const Ratio found = ratio(ones, others, 0.95);
    INFO(n << " and " << m << " values");
    CHECK(found.median == 0.5 * (1.0 + m));
    CHECK(found.interval.lower == 1.0 + (k - 1) / n);
    CHECK(found.interval.upper == m - (k - 1) / n);
  }
  const std::array few{1.0, 2.0, 3.0};
  CHECK(ratio(few, few, 0.95).median == 1.0);
  CHECK(ratio(few, few, 0.95).interval.lower == 0.0);
  CHECK(std::isinf(ratio(few, few, 0.95).interval.upper));
  // Of very many values it is that of a little fewer.
  std::vector<double> ones(100, 1.0), others;
  for (int j = 0; j < 101; ++j) others.push_back(1.0 + j);
  const Interval many = ratio(ones, others, 0.95).interval;
  others.pop_back();
  const Interval fewer = ratio(ones, others, 0.95).interval;
  CHECK_THAT(many.lower, WithinAbs(fewer.lower, 1.0));
  CHECK_THAT(many.upper, WithinAbs(fewer.upper + 1.0, 1.0));
}

TEST_CASE("percentage difference and proportional error are symmetric, and those of the factor between two values") {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> exponent(-40.0, 40.0);
  for (int i = 0; i < 2000; ++i) {
    const double a = std::exp(exponent(random)), factor = 1.0 + std::exp(exponent(random)), b = a * factor;
    const double difference = percentage_difference(a, b), error = proportional_error(a, b);
    const double expected = 200.0 * (factor - 1.0) / (factor + 1.0);
    REQUIRE_THAT(difference, WithinRel(expected, 1e-9) || WithinAbs(expected, 1e-12));
    REQUIRE_THAT(error, WithinRel(factor, 1e-12));
    REQUIRE(difference == percentage_difference(b, a));
    REQUIRE(error == proportional_error(b, a));
    REQUIRE(percentage_difference(a, a) == 0.0);
    REQUIRE(proportional_error(a, a) == 1.0);
  }
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  CHECK_THAT(percentage_difference(largest, largest / 3.0), WithinRel(100.0, 1e-12));
  CHECK(percentage_difference(0.0, smallest) == 200.0);
  CHECK(percentage_difference(largest, smallest) == 200.0);
  CHECK(difference_text(1.0, 1.1) == "9.5 %");
  CHECK(difference_text(2.0, 1.0) == "mu 2.00");
}

TEST_CASE("samples, levels and values of which nothing can be said are refused") {
  const std::vector<double> none, three{1.0, 2.0, 3.0}, with_zero{1.0, 0.0}, balanced{-1.0, 1.0};
  const std::vector<double> with_nan{1.0, not_a_number};
  using Statistic = double (*)(std::span<const double>);
  for (const Statistic statistic : {mean, median, standard_deviation, coefficient_of_variation}) {
    CHECK_THROWS_AS(statistic(none), InvalidArgument);
  }
  CHECK_THROWS_AS(coefficient_of_variation(balanced), InvalidArgument);
  CHECK_THROWS_AS(confidence_half_width(none, 0.95), InvalidArgument);
  CHECK_THROWS_AS(median_interval(none, 0.95), InvalidArgument);
  CHECK_THROWS_AS(median_interval(with_nan, 0.95), InvalidArgument);
  CHECK_THROWS_AS(count_outliers(none), InvalidArgument);
  CHECK_THROWS_AS(student_quantile(0.95, 0), InvalidArgument);
  for (const std::vector<double>& bad : {none, with_zero, balanced}) {
    CHECK_THROWS_AS(ratio(three, bad, 0.95), InvalidArgument);
    CHECK_THROWS_AS(ratio(bad, three, 0.95), InvalidArgument);
  }
  CHECK_THROWS_AS(percentage_difference(0.0, 0.0), InvalidArgument);
  CHECK_THROWS_AS(proportional_error(0.0, 1.0), InvalidArgument);
  CHECK_THROWS_AS(proportional_error(1.0, 0.0), InvalidArgument);
  for (const double bad : {-1.0, infinity, -infinity, not_a_number}) {
    CHECK_THROWS_AS(percentage_difference(bad, 1.0), InvalidArgument);
    CHECK_THROWS_AS(percentage_difference(1.0, bad), InvalidArgument);
    CHECK_THROWS_AS(proportional_error(bad, 1.0), InvalidArgument);
    CHECK_THROWS_AS(proportional_error(1.0, bad), InvalidArgument);
  }
  for (const double level : {0.0, 1.0, -0.5, 95.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(confidence_half_width(std::array{1.0}, level), InvalidArgument);
    CHECK_THROWS_AS(student_quantile(level, 3), InvalidArgument);
    CHECK_THROWS_AS(median_interval(three, level), InvalidArgument);
    CHECK_THROWS_AS(ratio(three, three, level), InvalidArgument);
  }
}

}  // namespace steelyard::test_statistics
