#include "core/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

void require_values(std::span<const double> sample, const char* what) {
  if (sample.empty()) throw InvalidArgument(fmt::format("{} of an empty sample", what));
}

std::vector<double> sorted(std::span<const double> sample) {
  std::vector<double> values(sample.begin(), sample.end());
  std::ranges::sort(values);
  return values;
}

bool has_nan(std::span<const double> sample) {
  return std::ranges::any_of(sample, [](double value) { return std::isnan(value); });
}

void require_level(double level) {
  if (!(level > 0.0 && level < 1.0)) {
    throw InvalidArgument(fmt::format("confidence level {} (expected a value between 0 and 1)", level));
  }
}

/// The greatest k for which P(Mann-Whitney statistic of n and m values < k) <= `tail`; of many values approximately.
std::size_t mann_whitney_rank(std::size_t n, std::size_t m, double tail) {
  constexpr std::size_t most_counted = 10000;
  if (n * m > most_counted) {
    const auto pairs = static_cast<double>(n * m);
    const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12.0);
    const double below = -boost::math::quantile(boost::math::normal_distribution<double>(), tail);
    return static_cast<std::size_t>(std::max(0.0, std::floor(0.5 * pairs - below * deviation)));
  }
  // probability[j][u] of U = u among i and j values, for i = 0, 1, …, n: the greatest is one of the i or of the j.
  std::vector<std::vector<double>> probability(m + 1, std::vector<double>(n * m + 1, 0.0));
  for (std::vector<double>& of_none : probability) of_none[0] = 1.0;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const double first = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t u = i * j + 1; u-- > 0;) {
        const double without_first = u >= j ? probability[j][u - j] : 0.0;
        probability[j][u] = first * without_first + (1.0 - first) * probability[j - 1][u];
      }
    }
  }
  std::size_t k = 0;
  for (double below = probability[m][0]; below <= tail; below += probability[m][k]) ++k;
  return k;
}

}  // namespace

double mean(std::span<const double> sample) {
  require_values(sample, "mean");
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

double median(std::span<const double> sample) {
  require_values(sample, "median");
  // NaN has no place in an order, and sorting it is undefined.
  if (has_nan(sample)) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = sorted(sample);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : std::midpoint(values[middle - 1], values[middle]);
}

double standard_deviation(std::span<const double> sample) {
  require_values(sample, "standard deviation");
  if (sample.size() == 1) return 0.0;
  const double centre = mean(sample);
  double squares = 0.0;
  for (const double value : sample) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

double coefficient_of_variation(std::span<const double> sample) {
  const double centre = mean(sample);
  if (centre == 0.0) throw InvalidArgument("coefficient of variation of a sample whose mean is 0");
  return standard_deviation(sample) / std::abs(centre);
}

double student_quantile(double level, int degrees) {
  require_level(level);
  if (degrees < 1)
    throw InvalidArgument(fmt::format("Student's t for {} degrees of freedom (expected 1, 2, …)", degrees));
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, 0.5 * (1.0 - level)));
}

double confidence_half_width(std::span<const double> sample, double level) {
  require_values(sample, "confidence interval");
  require_level(level);
  if (sample.size() < 2) return std::numeric_limits<double>::infinity();
  return student_quantile(level, static_cast<int>(sample.size()) - 1) * standard_deviation(sample) /
         std::sqrt(static_cast<double>(sample.size()));
}

Interval median_interval(std::span<const double> sample, double level) {
  require_values(sample, "median's interval");
  require_level(level);
  if (has_nan(sample)) throw InvalidArgument("median's interval of a sample with a value that is not a number");
  const boost::math::binomial_distribution<double> below(static_cast<double>(sample.size()), 0.5);
  std::size_t k = 0;
  while (boost::math::cdf(below, static_cast<double>(k)) <= 0.5 * (1.0 - level)) ++k;
  if (k == 0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const std::vector<double> values = sorted(sample);
  return {values[k - 1], values[values.size() - k]};
}

Ratio ratio(std::span<const double> sample, std::span<const double> other, double level) {
  require_level(level);
  for (const std::span<const double> values : {sample, other}) {
    require_values(values, "ratio");
    if (!std::ranges::all_of(values, [](double value) { return value > 0.0; })) {
      throw InvalidArgument("ratio to a sample with a value that is not positive");
    }
  }
  std::vector<double> ratios;
  for (const double of : other) {
    for (const double to : sample) ratios.push_back(of / to);
  }
  std::ranges::sort(ratios);
  const std::size_t k = mann_whitney_rank(sample.size(), other.size(), 0.5 * (1.0 - level));
  if (k == 0) return {median(ratios), {0.0, std::numeric_limits<double>::infinity()}};
  return {median(ratios), {ratios[k - 1], ratios[ratios.size() - k]}};
}

int count_outliers(std::span<const double> sample) {
  const double centre = median(sample);
  std::vector<double> deviations;
  for (const double value : sample) deviations.push_back(std::abs(value - centre));
  const double typical = median(deviations);
  const double scale = typical > 0.0 ? typical / 0.6745 : 1.2533 * mean(deviations);
  constexpr double far = 3.5;
  return static_cast<int>(std::ranges::count_if(deviations, [&](double one) { return one > far * scale; }));
}

double percentage_difference(double a, double b) {
  if (!(std::isfinite(a) && std::isfinite(b) && a >= 0.0 && b >= 0.0 && a + b > 0.0)) {
    throw InvalidArgument(
        fmt::format("percentage difference of {} and {} (expected finite values >= 0, not both 0)", a, b));
  }
  // Halved first where the sum of large values could overflow; small ones would lose their last bit by it.
  const double scale = std::max(a, b) > 1.0 ? 0.5 : 1.0;
  return 200.0 * (std::abs(scale * a - scale * b) / (scale * a + scale * b));
}

double proportional_error(double measured, double estimated) {
  if (!(std::isfinite(measured) && std::isfinite(estimated) && measured > 0.0 && estimated > 0.0)) {
    throw InvalidArgument(
        fmt::format("proportional error of {} and {} (expected finite values > 0)", measured, estimated));
  }
  return std::max(measured, estimated) / std::min(measured, estimated);
}

std::string difference_text(double measured, double estimated) {
  constexpr double far = 2.0;
  const double mu = proportional_error(measured, estimated);
  return mu < far ? fmt::format("{:.1f} %", percentage_difference(measured, estimated)) : fmt::format("mu {:.2f}", mu);
}

}  // namespace steelyard
