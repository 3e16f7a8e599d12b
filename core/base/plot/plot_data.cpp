#include "core/base/plot/plot_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/plot/xml_text.hpp"

namespace steelyard {
namespace {

constexpr double largest_value = 1e300;

/// The ends of the values that were included.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

void require_fit(const SvgPlot::Series& series) {
  if (series.x.size() != series.y.size()) {
    throw InvalidArgument(
        fmt::format("series '{}' has {} x and {} y values", series.name, series.x.size(), series.y.size()));
  }
  if (!series.error.empty() && series.error.size() != series.x.size()) {
    throw InvalidArgument(fmt::format("series '{}' has {} errors for {} points (expected one each or none)",
                                      series.name, series.error.size(), series.x.size()));
  }
  for (const double error : series.error) {
    if (error < 0.0)
      throw InvalidArgument(fmt::format("series '{}' has an error of {} (expected >= 0)", series.name, error));
  }
}

void require_on_axis(double value, SvgPlot::Scale scale, const char* axis, const std::string& name) {
  const bool logarithmic = scale == SvgPlot::Scale::logarithmic;
  if (std::abs(value) <= largest_value && (!logarithmic || value >= 1.0 / largest_value)) return;
  throw InvalidArgument(fmt::format("'{}' has {} = {} on a {} axis (expected {} to {})", name, axis, value,
                                    logarithmic ? "logarithmic" : "linear",
                                    logarithmic ? 1.0 / largest_value : -largest_value, largest_value));
}

/// Whether most sizes that were measured double; lines are sampled anywhere and only count on their own.
bool doubles(const std::vector<SvgPlot::Series>& all) {
  const bool only_lines = std::all_of(all.begin(), all.end(), [](const auto& series) { return series.line; });
  std::size_t points = 0;
  std::size_t powers = 0;
  for (const SvgPlot::Series& series : all) {
    for (std::size_t i = 0; i < series.x.size() && (only_lines || !series.line); ++i) {
      int exponent = 0;
      points += is_shown(series, i) ? 1 : 0;
      powers += is_shown(series, i) && std::frexp(series.x[i], &exponent) == 0.5 ? 1 : 0;
    }
  }
  return 2 * powers > points;
}

/// As they stand beside an axis. @param room characters of each
std::vector<std::string> shown_names(const std::vector<std::string>& names, std::size_t room) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(xml_text(name, room));
  return shown;
}

PlotAxis number_axis(const SvgPlot& plot) {
  const bool logarithmic = plot.y_scale == SvgPlot::Scale::logarithmic;
  Range values;
  Range bars;
  for (const SvgPlot::Series& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!is_shown(series, i)) continue;
      const double y = series.y[i];
      const double error = shown_error(series, i);
      values.include(y);
      bars.include(std::min(y + error, largest_value));
      bars.include(std::max(y - error, logarithmic ? std::max(0.5 * y, 1.0 / largest_value) : -largest_value));
    }
  }
  for (const SvgPlot::Box& box : plot.boxes) {
    for (const double y : {box.low, box.high}) {
      values.include(y);
      bars.include(y);
    }
  }
  if (logarithmic) return PlotAxis::logarithmic(bars.low, bars.high, false);
  return PlotAxis::linear(values.low >= 0.0 ? 0.0 : bars.low, bars.high, 6);
}

}  // namespace

bool is_shown(const SvgPlot::Series& series, std::size_t i) {
  return std::isfinite(series.x[i]) && std::isfinite(series.y[i]);
}

double shown_error(const SvgPlot::Series& series, std::size_t i) {
  return !series.error.empty() && std::isfinite(series.error[i]) ? series.error[i] : 0.0;
}

void require_showable(const SvgPlot& plot) {
  bool any = false;
  for (const SvgPlot::Series& series : plot.series) {
    require_fit(series);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!is_shown(series, i)) continue;
      require_on_axis(series.x[i], plot.x_scale, "x", series.name);
      require_on_axis(series.y[i], plot.y_scale, "y", series.name);
      any = true;
    }
  }
  for (const SvgPlot::Box& box : plot.boxes) {
    for (const double x : {box.left, box.right}) require_on_axis(x, plot.x_scale, "x", box.text);
    for (const double y : {box.low, box.high}) require_on_axis(y, plot.y_scale, "y", box.text);
    if (box.series >= plot.series.size()) {
      throw InvalidArgument(fmt::format("chart '{}' has a box of series {} (expected one of its {})", plot.title,
                                        box.series, plot.series.size()));
    }
    any = true;
  }
  if (!any) {
    throw InvalidArgument(
        fmt::format("chart '{}' has no finite point in its {} series", plot.title, plot.series.size()));
  }
  for (const SvgPlot::Marker& marker : plot.markers) {
    if (std::isfinite(marker.x)) require_on_axis(marker.x, plot.x_scale, "x", marker.label);
  }
}

PlotAxis x_axis_of(const SvgPlot& plot, std::size_t room_characters) {
  if (!plot.x_names.empty()) {
    const std::size_t room = std::max<std::size_t>(3, room_characters / std::min<std::size_t>(40, plot.x_names.size()));
    return PlotAxis::named(shown_names(plot.x_names, room));
  }
  Range range;
  for (const SvgPlot::Series& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (is_shown(series, i)) range.include(series.x[i]);
    }
  }
  for (const SvgPlot::Marker& marker : plot.markers) {
    if (std::isfinite(marker.x)) range.include(marker.x);
  }
  for (const SvgPlot::Box& box : plot.boxes) {
    range.include(box.left);
    range.include(box.right);
  }
  if (plot.x_scale == SvgPlot::Scale::logarithmic) {
    return PlotAxis::logarithmic(range.low, range.high, doubles(plot.series));
  }
  for (int steps = 10;; steps /= 2) {
    PlotAxis axis = PlotAxis::linear(range.low, range.high, steps);
    std::size_t longest = 0;
    for (const auto& tick : axis.ticks()) longest = std::max(longest, count_characters(tick.label));
    if (steps < 4 || (longest + 2) * (axis.ticks().size() - 1) <= room_characters) return axis;
  }
}

PlotAxis y_axis_of(const SvgPlot& plot) {
  constexpr std::size_t longest_name = 24;
  PlotAxis axis = plot.y_names.empty() ? number_axis(plot) : PlotAxis::named(shown_names(plot.y_names, longest_name));
  if (plot.y_downwards) axis.reverse();
  return axis;
}

}  // namespace steelyard
