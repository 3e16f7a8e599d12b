#include "core/base/plot/plot_area.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  if (!series.error_below.empty() && series.error_below.size() != series.error.size()) {
    throw InvalidArgument(fmt::format("series '{}' has {} errors below and {} above (expected as many)", series.name,
                                      series.error_below.size(), series.error.size()));
  }
  for (const std::vector<double>* errors : {&series.error, &series.error_below}) {
    for (const double error : *errors) {
      if (error < 0.0)
        throw InvalidArgument(fmt::format("series '{}' has an error of {} (expected >= 0)", series.name, error));
    }
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

/// Names as labels beside an axis. @param room characters of each
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
      const auto [low, high] = error_bar(series, i);
      values.include(y);
      bars.include(std::min(high, largest_value));
      bars.include(std::max(low, logarithmic ? std::max(0.5 * y, 1.0 / largest_value) : -largest_value));
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

std::pair<double, double> error_bar(const SvgPlot::Series& series, std::size_t i) {
  const auto length = [&](const std::vector<double>& errors) { return std::isfinite(errors[i]) ? errors[i] : 0.0; };
  const double y = series.y[i];
  if (series.error.empty()) return {y, y};
  return {y - length(series.error_below.empty() ? series.error : series.error_below), y + length(series.error)};
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

namespace {

// Okabe and Ito's colours, which stay apart for all common kinds of colour blindness; yellow is too pale on white.
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3c3c3c"};
constexpr std::array shapes{
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.7-3.7h7.4v7.4h-7.4z",
    "M0-5L4.8 3.6H-4.8z",
    "M0-5.2L5.2 0L0 5.2L-5.2 0z",
    "M0 5L4.8-3.6H-4.8z",
    "M-1.4-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2z",
};
constexpr std::array dashes{"", "8 5", "2 4", "10 4 2 4"};

std::string move_to(double x, double y) { return fmt::format("M{} {}", svg_number(x), svg_number(y)); }

}  // namespace

std::vector<SeriesLook> series_looks(const std::vector<SvgPlot::Series>& all) {
  std::vector<SeriesLook> looks;
  std::size_t lines = 0;
  std::size_t points = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    looks.push_back({colours[all[s].colour.value_or(s) % colours.size()], shapes[points % shapes.size()],
                     dashes[lines % dashes.size()]});
    ++(all[s].line ? lines : points);
  }
  return looks;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string svg_line(const SeriesLook& look, const std::string& path) {
  const std::string dash = look.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", look.dash);
  return fmt::format(
      "<path class=\"plot-line\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"{} d=\"{}\"/>\n",
      look.colour, dash, path);
}

std::string svg_mark(const SeriesLook& look, double x, double y, const std::string& content) {
  return fmt::format(
      "<path class=\"plot-mark\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.8\" transform=\"translate({} {})\" "
      "d=\"{}\">{}</path>\n",
      look.colour, svg_number(x), svg_number(y), look.shape, content);
}

std::string PlotArea::grid() const {
  std::string fine;
  std::string strong;
  std::string labels;
  const auto down = [&](double value, double to) { return move_to(x(value), top) + "V" + svg_number(to); };
  const auto across = [&](double value, double from) { return move_to(from, y(value)) + "H" + svg_number(right); };
  const auto label = [&](const char* axis, const char* anchor, double at_x, double at_y, const std::string& text) {
    labels += fmt::format("<text class=\"plot-{}\" text-anchor=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", axis, anchor,
                          svg_number(at_x), svg_number(at_y), text);
  };
  for (const double value : x_axis.minor_ticks()) fine += down(value, bottom);
  for (const double value : y_axis.minor_ticks()) fine += across(value, left);
  for (const auto& [value, text] : x_axis.ticks()) {
    strong += down(value, bottom + 5.0);
    label("x-tick", "middle", x(value), bottom + 19.0, text);
  }
  for (const auto& [value, text] : y_axis.ticks()) {
    strong += across(value, left - 5.0);
    label("y-tick", "end", left - 9.0, y(value) + 4.2, text);
  }
  if (!fine.empty()) fine = "<path fill=\"none\" stroke=\"#f0f0f0\" d=\"" + fine + "\"/>\n";
  return fmt::format(
      "{}<path fill=\"none\" stroke=\"#dcdcdc\" d=\"{}\"/>\n<path fill=\"none\" stroke=\"#777\" d=\"{}V{}H{}\"/>\n"
      "<g font-size=\"12\" fill=\"#444\">\n{}</g>\n",
      fine, strong, move_to(left, top), svg_number(bottom), svg_number(right), labels);
}

std::string PlotArea::boxes(const std::vector<SvgPlot::Box>& all, const std::vector<SeriesLook>& looks) const {
  constexpr double character_width = 7.0, line_height = 14.0;
  std::string text;
  for (const SvgPlot::Box& box : all) {
    const double from = x(box.left), to = x(box.right);
    const double above = std::min(y(box.low), y(box.high)), below = std::max(y(box.low), y(box.high));
    text += fmt::format(
        "<rect class=\"plot-box\" fill=\"{}\" fill-opacity=\"0.8\" stroke=\"#fff\" stroke-width=\"0.8\" x=\"{}\" "
        "y=\"{}\" width=\"{}\" height=\"{}\"><title>{}{:.4g} to {:.4g}, {:.4g} to {:.4g}</title></rect>\n",
        looks[box.series].colour, svg_number(from), svg_number(above), svg_number(to - from), svg_number(below - above),
        box.text.empty() ? "" : xml_text(box.text) + ": ", box.left, box.right, box.low, box.high);
    const double room = character_width * static_cast<double>(count_characters(box.text));
    if (box.text.empty() || room > to - from || line_height > below - above) continue;
    text += fmt::format("<text font-size=\"12\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                        svg_number(0.5 * (from + to)), svg_number(0.5 * (above + below) + 4.2), xml_text(box.text));
  }
  return text;
}

std::string PlotArea::line(const SvgPlot::Series& series, const SeriesLook& look) const {
  std::string path;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!is_shown(series, i)) continue;
    const bool begins = i == 0 || !is_shown(series, i - 1);
    const bool ends = i + 1 == series.x.size() || !is_shown(series, i + 1);
    path += fmt::format("{}{} {}", begins ? "M" : "L", svg_number(x(series.x[i])), svg_number(y(series.y[i])));
    if (begins && ends) path += "h0";  // a line of no length has two round ends: a dot
  }
  return path.empty() ? "" : svg_line(look, path);
}

std::string PlotArea::error_bars(const SvgPlot::Series& series, const SeriesLook& look) const {
  std::string path;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const auto [low, high] = error_bar(series, i);
    if (!is_shown(series, i) || low == high) continue;
    const std::string cap = move_to(x(series.x[i]) - 3.5, y(high)) + "h7";
    path += move_to(x(series.x[i]), y(low)) + "V" + svg_number(y(high)) + cap;
    if (low >= y_axis.low()) path += move_to(x(series.x[i]) - 3.5, y(low)) + "h7";
  }
  if (path.empty()) return "";
  return fmt::format("<path class=\"plot-error\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\" d=\"{}\"/>\n",
                     look.colour, path);
}

std::string PlotArea::marks(const SvgPlot::Series& series, const SeriesLook& look) const {
  std::string text;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!is_shown(series, i)) continue;
    std::string values = fmt::format("{:.6g}: {:.4g}", series.x[i], series.y[i]);
    if (const auto [low, high] = error_bar(series, i); low < high)
      values += fmt::format(" ({:.4g} to {:.4g})", low, high);
    text += svg_mark(look, x(series.x[i]), y(series.y[i]), "<title>" + values + "</title>");
  }
  return text;
}

}  // namespace steelyard
