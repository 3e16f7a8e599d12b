#include "core/base/plot/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

constexpr double largest = 1e300;  // leaves room for margins and differences

/// Largest e with 10^e <= value, for a value that may be a rounding error below a power of ten.
int decade(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

/// digits * 10^exponent; divides for fractions, so that 3 * 10^-1 is the number that is written 0.3.
double decimal(double digits, int exponent) {
  return exponent < 0 ? digits / std::pow(10.0, -exponent) : digits * std::pow(10.0, exponent);
}

/// The power of 1000 that has an SI prefix and is nearest below a value.
int thousands(double value) { return static_cast<int>(std::clamp(std::floor(decade(value) / 3.0), -4.0, 6.0)); }

const char* prefix(int power_of_1000) {
  const char* const names[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"};
  return names[power_of_1000 + 4];
}

bool beyond_prefixes(double value) { return value >= 1e21 || value < 1e-12; }

/// Labels of equidistant ticks: one prefix and one number of decimals for all, as a reader compares them.
std::vector<PlotAxis::Tick> labelled(const std::vector<double>& values, double step) {
  double top = 0.0;
  for (const double value : values) top = std::max(top, std::abs(value));
  // Numbers of four digits, such as years, are read faster without a prefix.
  const int power = top >= 1e4 || top < 1e-2 ? thousands(top) : 0;
  const int decimals = std::max(0, 3 * power - decade(step));
  std::vector<PlotAxis::Tick> ticks;
  for (const double value : values) {
    std::string label = fmt::format("{:.{}f}{}", decimal(value, -3 * power), decimals, prefix(power));
    if (beyond_prefixes(top)) label = fmt::format("{:g}", value);
    ticks.push_back({value, value == 0.0 ? "0" : label});
  }
  return ticks;
}

/// Label of a tick among others of any magnitude, the lowest of which is given.
std::string label_alone(double value, double lowest) {
  if (beyond_prefixes(value)) return fmt::format("{:g}", value);
  const int power = value >= 1000.0 || (value < 1.0 && lowest < 0.01) ? thousands(value) : 0;
  return fmt::format("{:g}{}", decimal(value, -3 * power), prefix(power));
}

/// Powers of two in full as long as they can be read, otherwise in the prefixes that make them short.
std::string label_of_power_of_two(double value, double highest) {
  if (highest < 1e6 || value < 1024.0) return fmt::format("{:g}", value);
  const int power = std::min(static_cast<int>(std::log2(value)) / 10, 6);
  const double scaled = std::ldexp(value, -10 * power);
  return scaled < 1e6 ? fmt::format("{:g}{}i", scaled, power == 1 ? "K" : prefix(power)) : fmt::format("{:g}", value);
}

double one_two_five(double least) {
  const int exponent = decade(least);
  for (const double digits : {1.0, 2.0, 5.0}) {
    if (decimal(digits, exponent) >= least * (1.0 - 1e-9)) return decimal(digits, exponent);
  }
  return decimal(1.0, exponent + 1);
}

/// Multiples of the step from first to last, counted in steps.
std::vector<double> multiples(double step, double first, double last) {
  const int exponent = decade(step);
  const double digits = std::round(decimal(step, -exponent));
  std::vector<double> values;
  for (double i = first; i <= last; i += 1.0) values.push_back(decimal(i * digits, exponent) + 0.0);
  return values;
}

}  // namespace

PlotAxis PlotAxis::linear(double low, double high, int steps) {
  if (!(-largest <= low && low <= high && high <= largest && steps > 0)) {
    throw InvalidArgument(fmt::format("linear axis from {} to {} in {} steps (expected values in order, at most {})",
                                      low, high, steps, largest));
  }
  // Values that differ by less than they could be told apart by get an axis around them.
  const double size = std::max(std::abs(low), std::abs(high));
  if (size < 1e-290) {
    low = std::min(low, 0.0);
    high = 1.0;
  } else if (high - low < 1e-9 * size) {
    low -= 0.1 * size;
    high += 0.1 * size;
  }
  const double step = one_two_five((high - low) / steps);
  // Ends that are steps but for rounding stay.
  const std::vector<double> values = multiples(step, std::floor(low / step + 1e-6), std::ceil(high / step - 1e-6));
  PlotAxis axis(values.front(), values.back(), false);
  axis.ticks_ = labelled(values, step);
  return axis;
}

PlotAxis PlotAxis::logarithmic(double low, double high, bool powers_of_two) {
  if (!(1.0 / largest <= low && low <= high && high <= largest)) {
    throw InvalidArgument(fmt::format("logarithmic axis from {} to {} (expected values in order, {} to {})", low, high,
                                      1.0 / largest, largest));
  }
  const double decades = std::log10(high) - std::log10(low);
  const double margin = high < 1.2 * low ? 1.5 : std::pow(10.0, std::min(0.03 * decades, 6.0));
  PlotAxis axis(low / margin, high * margin, true);
  if (powers_of_two && low >= 1.0) axis.choose_powers(2.0);
  if (axis.ticks_.size() < 3) axis.choose_powers(10.0);
  if (axis.ticks_.size() < 4) axis.choose_one_two_five();
  if (axis.ticks_.size() < 3) {
    const double step = one_two_five((axis.high_ - axis.low_) / 8.0);
    axis.ticks_ = labelled(multiples(step, std::ceil(axis.low_ / step), std::floor(axis.high_ / step)), step);
  }
  return axis;
}

void PlotAxis::choose_powers(double base) {
  const bool two = base == 2.0;
  const auto exponent = [&](double value) { return two ? std::log2(value) : std::log10(value); };
  const auto power = [&](double e) { return two ? std::exp2(e) : decimal(1.0, static_cast<int>(e)); };
  const double first = std::ceil(exponent(low_));
  const double last = std::floor(exponent(high_));
  const double stride = std::max(1.0, std::ceil((last - first + 1.0) / 9.0));
  ticks_.clear();
  minor_ticks_.clear();
  for (double e = std::floor(first / stride) * stride; e <= last; e += 1.0) {
    const bool labelled_one = std::fmod(e, stride) == 0.0;  // counted from 1: the same sizes on every chart
    const double value = power(e);
    if (value >= low_ && value <= high_ && labelled_one) ticks_.push_back({value, ""});
    if (value >= low_ && value <= high_ && !labelled_one) minor_ticks_.push_back(value);
    for (double digits = 2.0; !two && stride == 1.0 && digits < 10.0; digits += 1.0) {
      const double between = decimal(digits, static_cast<int>(e));
      if (between >= low_ && between <= high_) minor_ticks_.push_back(between);
    }
  }
  for (Tick& tick : ticks_) {
    tick.label =
        two ? label_of_power_of_two(tick.value, ticks_.back().value) : label_alone(tick.value, ticks_.front().value);
  }
}

void PlotAxis::choose_one_two_five() {
  ticks_.clear();
  minor_ticks_.clear();
  for (int e = decade(low_); e <= decade(high_); ++e) {
    for (const double digits : {1.0, 2.0, 5.0}) {
      const double value = decimal(digits, e);
      if (value >= low_ && value <= high_) ticks_.push_back({value, ""});
    }
  }
  for (Tick& tick : ticks_) tick.label = label_alone(tick.value, ticks_.front().value);
}

PlotAxis PlotAxis::named(const std::vector<std::string>& names) {
  constexpr std::size_t most = 40;
  PlotAxis axis(0.0, static_cast<double>(std::max<std::size_t>(1, names.size())), false);
  const std::size_t stride = (names.size() + most - 1) / most;
  for (std::size_t i = 0; i < names.size(); i += stride)
    axis.ticks_.push_back({static_cast<double>(i) + 0.5, names[i]});
  return axis;
}

double PlotAxis::position(double value) const {
  if (reversed_) return 1.0 - share(value);
  return share(value);
}

double PlotAxis::share(double value) const {
  if (value <= low_) return 0.0;  // also keeps values without a logarithm away from it
  if (value >= high_) return 1.0;
  // No ratio, which can be too large for a number.
  if (logarithmic_) return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));
  return (value - low_) / (high_ - low_);
}

}  // namespace steelyard
