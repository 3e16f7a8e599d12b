#pragma once

#include <span>
#include <string>

namespace steelyard {

/// Sum of the values divided by their number. @throws InvalidArgument for an empty sample
double mean(std::span<const double> sample);

/// Middle value, or the mean of the two middle values; NaN if any value is. @throws InvalidArgument for an empty sample
double median(std::span<const double> sample);

/// Sample standard deviation (divisor n - 1); 0 for a single value. @throws InvalidArgument for an empty sample
double standard_deviation(std::span<const double> sample);

/// Standard deviation over mean. Source: 003, section 2.8.2.
/// @throws InvalidArgument for an empty sample or a mean of zero
double coefficient_of_variation(std::span<const double> sample);

/// Quantile of Student's t that a two-sided interval reaches to, t_{(1+level)/2, degrees}.
/// @param level confidence level, 0 < level < 1 @throws InvalidArgument for no degrees of freedom or another level
double student_quantile(double level, int degrees);

/// Half width of the confidence interval of the mean, t_{(1+level)/2, n-1} s / sqrt(n), with Student's t; infinity for
/// one value. Source: 000, section 6.1.2 (fupermod_ci); 002, section 1.
/// @throws InvalidArgument for an empty sample or a level outside (0, 1)
double confidence_half_width(std::span<const double> sample, double level);

struct Interval {
  double lower = 0.0;
  double upper = 0.0;

  double half_width() const { return 0.5 * (upper - lower); }
};

/// Confidence interval of the median, whatever the distribution: from the k-th least to the k-th greatest value, with
/// the greatest k for which sum_{i<k} C(n, i) / 2^n <= (1 - level) / 2. All numbers where the sample is too small for
/// such a k (fewer than 6 values for 95 %). Source: Conover, Practical Nonparametric Statistics, section 3.2.
/// @throws InvalidArgument for an empty sample, one with a NaN, or a level outside (0, 1)
Interval median_interval(std::span<const double> sample, double level);

/// How many times as large as values of one sample those of another are: the median of all ratios, and its confidence
/// interval if one distribution is the other times a factor: from the k-th least to the k-th greatest ratio, with the
/// greatest k for which P(Mann-Whitney statistic < k) <= (1 - level) / 2; from 0 to infinity without such a k (3 and 3
/// values for 95 %). Source: Hodges and Lehmann, Estimates of location based on rank tests, 1963; Conover, 5.4.
struct Ratio {
  double median = 1.0;
  Interval interval;
};
/// @throws InvalidArgument for an empty sample, a value that is not positive, or a level outside (0, 1)
Ratio ratio(std::span<const double> sample, std::span<const double> other, double level);

/// How many values are far from the others: 0.6745 |value - median| / MAD > 3.5, with MAD the median of the absolute
/// deviations, or where that is 0, |value - median| / (1.2533 mean absolute deviation) > 3.5. Source: Iglewicz and
/// Hoaglin, How to Detect and Handle Outliers, 1993. @throws InvalidArgument for an empty sample
int count_outliers(std::span<const double> sample);

/// How far apart two values are, in percent of their mean: 200 |a - b| / (a + b), from 0 to 200.
/// Source: 003, equation 2.10. @throws InvalidArgument unless both are finite, not negative and not both zero
double percentage_difference(double a, double b);

/// mu = max(r, e) / min(r, e): 1 when the estimate e equals the measurement r, the same for twice as for half.
/// Source: 001, section 5.5. @throws InvalidArgument unless both are finite and positive
double proportional_error(double measured, double estimated);

/// How far a prediction is off: `7.5 %`, or from a factor of two on, where percentages say little, `mu 5.59`.
/// @throws InvalidArgument as proportional_error()
std::string difference_text(double measured, double estimated);

}  // namespace steelyard
