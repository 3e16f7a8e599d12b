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
    if (!is_shown(series, i) || shown_error(series, i) == 0.0) continue;
    const double low = series.y[i] - series.error[i];
    const double high = series.y[i] + series.error[i];
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
    if (shown_error(series, i) > 0.0) values += fmt::format(" ± {:.2g}", series.error[i]);
    text += svg_mark(look, x(series.x[i]), y(series.y[i]), "<title>" + values + "</title>");
  }
  return text;
}

}  // namespace steelyard
