#include "core/base/plot/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/base/plot/xml_text.hpp"

namespace steelyard {
namespace {

/// Largest e with 10^e <= value, for a value that may be a rounding error below a power of ten.
int decade(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

/// digits * 10^exponent; divides for fractions, so that 3 * 10^-1 is the number that is written 0.3.
double decimal(double digits, int exponent) {
  return exponent < 0 ? digits / std::pow(10.0, -exponent) : digits * std::pow(10.0, exponent);
}

/// A value with few digits and an SI prefix for the power of 1000; only digits where there is no such prefix.
/// @param decimals negative for those that it needs
std::string label_of(double value, int power_of_1000, int decimals = -1) {
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
  if (value == 0.0) return "0";
  if (power_of_1000 < 0 || power_of_1000 >= static_cast<int>(prefixes.size())) return fmt::format("{:.10g}", value);
  const char* const prefix = prefixes[static_cast<std::size_t>(power_of_1000)];
  const double digits = decimal(value, -3 * power_of_1000);
  return decimals < 0 ? fmt::format("{:g}{}", digits, prefix) : fmt::format("{:.{}f}{}", digits, decimals, prefix);
}

int thousands(double value) { return static_cast<int>(std::floor(decade(value) / 3.0)); }

/// Labels of equidistant ticks: one prefix and one number of decimals for all, as a reader compares them.
std::vector<PlotAxis::Tick> labelled(const std::vector<double>& values, double step) {
  double top = 0.0;
  for (const double value : values) top = std::max(top, std::abs(value));
  // Numbers of four digits, such as years, are read faster without a prefix.
  const int power = top >= 1e4 || top < 1e-2 ? thousands(top) : 0;
  const int decimals = std::max(0, 3 * power - decade(step));
  std::vector<PlotAxis::Tick> ticks;
  for (const double value : values) ticks.push_back({value, label_of(value, power, decimals)});
  return ticks;
}

/// Label of a tick among others of any magnitude.
std::string label_alone(double value) { return label_of(value, value >= 1000.0 ? thousands(value) : 0); }

/// Powers of two in full as long as they can be read, otherwise in the prefixes that make them short.
std::string label_of_power_of_two(double value, double highest) {
  constexpr std::string_view prefixes = " KMGTPE";
  const std::size_t power = highest < 1e6 ? 0 : static_cast<std::size_t>(std::log2(value)) / 10;
  if (power == 0 || power >= prefixes.size()) return fmt::format("{:g}", value);
  return fmt::format("{:g}{}i", std::ldexp(value, -10 * static_cast<int>(power)), prefixes[power]);
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

/// An axis from low to high, both moved outwards to about `steps` whole steps of 1, 2 or 5 times a power of ten.
PlotAxis linear_axis(double low, double high, int steps) {
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
  return {values.front(), values.back(), false, labelled(values, step)};
}

/// Gives an axis the powers of a base, 2 or 10, as ticks: all, or every few, counted from 1 on every chart.
void choose_powers(double base, PlotAxis& axis) {
  const bool two = base == 2.0;
  const auto exponent = [&](double value) { return two ? std::log2(value) : std::log10(value); };
  const auto is_on_axis = [&](double value) { return value >= axis.low && value <= axis.high; };
  const double first = std::ceil(exponent(axis.low)), last = std::floor(exponent(axis.high));
  const double stride = std::max(1.0, std::ceil((last - first + 1.0) / 9.0));
  axis.ticks.clear();
  axis.minor_ticks.clear();
  for (double e = first; e <= last; e += 1.0) {
    const double value = two ? std::exp2(e) : decimal(1.0, static_cast<int>(e));
    if (is_on_axis(value) && std::fmod(e, stride) == 0.0) {
      axis.ticks.push_back({value, ""});
    } else if (is_on_axis(value)) {
      axis.minor_ticks.push_back(value);
    }
    for (double digits = 2.0; !two && stride == 1.0 && digits < 10.0; digits += 1.0) {
      const double between = decimal(digits, static_cast<int>(e));
      if (is_on_axis(between)) axis.minor_ticks.push_back(between);
    }
  }
  for (PlotAxis::Tick& tick : axis.ticks) {
    tick.label = two ? label_of_power_of_two(tick.value, axis.ticks.back().value) : label_alone(tick.value);
  }
}

/// An axis from a little below low to a little above high, on which equal ratios take equal room.
/// @param powers_of_two whether the values are sizes that are doubled, so that 64 is rounder than 100
PlotAxis logarithmic_axis(double low, double high, bool powers_of_two) {
  const double decades = std::log10(high) - std::log10(low);
  const double margin = high < 1.2 * low ? 1.5 : std::pow(10.0, std::min(0.03 * decades, 6.0));
  PlotAxis axis{low / margin, high * margin, true};
  if (powers_of_two && low >= 1.0) choose_powers(2.0, axis);
  if (axis.ticks.size() < 3) choose_powers(10.0, axis);
  if (axis.ticks.size() >= 4) return axis;
  axis.ticks.clear();
  axis.minor_ticks.clear();
  for (int e = decade(axis.low); e <= decade(axis.high); ++e) {
    for (const double digits : {1.0, 2.0, 5.0}) {
      const double value = decimal(digits, e);
      if (value >= axis.low && value <= axis.high) axis.ticks.push_back({value, label_alone(value)});
    }
  }
  if (axis.ticks.size() >= 3) return axis;
  const double step = one_two_five((axis.high - axis.low) / 8.0);
  axis.ticks = labelled(multiples(step, std::ceil(axis.low / step), std::floor(axis.high / step)), step);
  return axis;
}

constexpr std::size_t most_names = 40;

/// An axis from 0 to the number of names, with name i in the middle between i and i + 1; of more names than
/// `most_names` some are left out. @param room characters of a name
PlotAxis names_axis(const std::vector<std::string>& names, std::size_t room) {
  PlotAxis axis{0.0, static_cast<double>(names.size())};
  const std::size_t stride = (names.size() + most_names - 1) / most_names;
  for (std::size_t i = 0; i < names.size(); i += stride) {
    axis.ticks.push_back({static_cast<double>(i) + 0.5, xml_text(names[i], room)});
  }
  return axis;
}

/// The ends of the values that were included.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range x_range(const SvgPlot& plot) {
  Range range;
  for (const SvgPlot::Series& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (series.is_shown(i)) range.include(series.x[i]);
    }
  }
  for (const SvgPlot::Marker& marker : plot.markers) {
    if (std::isfinite(marker.x)) range.include(marker.x);
  }
  for (const SvgPlot::Box& box : plot.boxes) {
    for (const double x : {box.left, box.right}) range.include(x);
  }
  return range;
}

/// The range of y_axis_of().
Range y_range(const SvgPlot& plot) {
  const bool logarithmic = plot.y_scale == SvgPlot::Scale::logarithmic;
  Range values, bars;
  for (const SvgPlot::Series& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!series.is_shown(i)) continue;
      const double y = series.y[i];
      const auto [low, high] = series.error_bar(i);
      values.include(y);
      bars.include(std::min(high, PlotAxis::largest));
      bars.include(std::max(low, logarithmic ? std::max(0.5 * y, 1.0 / PlotAxis::largest) : -PlotAxis::largest));
    }
  }
  for (const SvgPlot::Box& box : plot.boxes) {
    for (const double y : {box.low, box.high}) {
      values.include(y);
      bars.include(y);
    }
  }
  if (!logarithmic && values.low >= 0.0) bars.low = 0.0;
  return bars;
}

/// Factor by which an axis of seconds is multiplied so that its ticks are plain numbers. The label, whose unit is in
/// brackets or behind a comma, is given the unit of the products; of other labels nothing changes.
double choose_unit(std::string& label, const Range& range, SvgPlot::Scale scale) {
  if (!label.ends_with("(s)") && !label.ends_with(", s")) return 1.0;
  const double size = scale == SvgPlot::Scale::logarithmic ? std::sqrt(range.low) * std::sqrt(range.high)
                                                           : std::max(std::abs(range.low), std::abs(range.high));
  double factor = 1.0;
  const char* prefix = "";
  for (const char* const next : {"m", "µ", "n"}) {
    if (size == 0.0 || size * factor >= 1.0 || range.high * factor > PlotAxis::largest / 1000.0) break;
    factor *= 1000.0;
    prefix = next;
  }
  const std::size_t unit = label.rfind('s');
  label = label.substr(0, unit) + prefix + label.substr(unit);
  return factor;
}

/// Whether most sizes that were measured double; lines are sampled anywhere and only count on their own.
bool doubles(const std::vector<SvgPlot::Series>& all) {
  const bool only_lines = std::all_of(all.begin(), all.end(), [](const auto& series) { return series.line; });
  std::size_t points = 0, powers = 0;
  for (const SvgPlot::Series& series : all) {
    for (std::size_t i = 0; i < series.x.size() && (only_lines || !series.line); ++i) {
      int exponent = 0;
      points += series.is_shown(i) ? 1 : 0;
      powers += series.is_shown(i) && std::frexp(series.x[i], &exponent) == 0.5 ? 1 : 0;
    }
  }
  return 2 * powers > points;
}

}  // namespace

double PlotAxis::position(double value) const {
  if (value <= low) return 0.0;  // also keeps values without a logarithm away from it
  if (value >= high) return 1.0;
  // No ratio, which can be too large for a number.
  if (is_logarithmic) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return (value - low) / (high - low);
}

std::size_t PlotAxis::longest_label() const {
  std::size_t longest = 0;
  for (const Tick& tick : ticks) longest = std::max(longest, count_characters(tick.label));
  return longest;
}

SvgPlot with_units(SvgPlot plot) {
  const double x = plot.x_names.empty() ? choose_unit(plot.x_label, x_range(plot), plot.x_scale) : 1.0;
  const double y = plot.y_names.empty() ? choose_unit(plot.y_label, y_range(plot), plot.y_scale) : 1.0;
  for (SvgPlot::Series& series : plot.series) {
    for (double& value : series.x) value *= x;
    for (std::vector<double>* values : {&series.y, &series.error, &series.error_below}) {
      for (double& value : *values) value *= y;
    }
  }
  for (SvgPlot::Marker& marker : plot.markers) marker.x *= x;
  for (SvgPlot::Box& box : plot.boxes) {
    for (double* value : {&box.left, &box.right}) *value *= x;
    for (double* value : {&box.low, &box.high}) *value *= y;
  }
  return plot;
}

PlotAxis x_axis_of(const SvgPlot& plot, std::size_t room_characters) {
  if (!plot.x_names.empty()) {
    const std::size_t names = std::min<std::size_t>(most_names, plot.x_names.size());
    return names_axis(plot.x_names, std::max<std::size_t>(3, room_characters / names));
  }
  const Range range = x_range(plot);
  if (plot.x_scale == SvgPlot::Scale::logarithmic) {
    return logarithmic_axis(range.low, range.high, doubles(plot.series));
  }
  for (int steps = 10;; steps /= 2) {
    PlotAxis axis = linear_axis(range.low, range.high, steps);
    if (steps < 4 || (axis.longest_label() + 2) * (axis.ticks.size() - 1) <= room_characters) return axis;
  }
}

PlotAxis y_axis_of(const SvgPlot& plot) {
  constexpr std::size_t longest_name = 24;
  if (!plot.y_names.empty()) return names_axis(plot.y_names, longest_name);
  const Range range = y_range(plot);
  if (plot.y_scale == SvgPlot::Scale::logarithmic) return logarithmic_axis(range.low, range.high, false);
  return linear_axis(range.low, range.high, 6);
}

}  // namespace steelyard
