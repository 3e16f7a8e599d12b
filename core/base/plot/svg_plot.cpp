#include "core/base/plot/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/plot/plot_axis.hpp"
#include "core/base/plot/xml_text.hpp"

namespace steelyard {
namespace {

// Lengths in units of the view box, which is about a pixel on a page.
constexpr double area_height = 330.0;
constexpr double border = 14.0;
constexpr double right_border = 32.0;  // half of a tick label stands beyond the axis
constexpr double small_text = 12.0;
constexpr double label_text = 13.0;
constexpr double title_text = 16.0;
constexpr double legend_row = 21.0;
constexpr double marker_row = 17.0;

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

/// How a series is told from the others: by colour, and by the shape of its marks or the dashes of its line.
struct Look {
  const char* colour;
  const char* shape;  ///< path around (0, 0)
  const char* dash;   ///< stroke-dasharray; empty for none
};

/// A look for each series, different from the others' for the first six of marks and the first four of lines.
std::vector<Look> series_looks(const std::vector<SvgPlot::Series>& all) {
  std::vector<Look> looks;
  std::size_t lines = 0, points = 0;
  for (const SvgPlot::Series& series : all) {
    looks.push_back({colours[series.colour.value_or(looks.size()) % colours.size()], shapes[points % shapes.size()],
                     dashes[lines % dashes.size()]});
    ++(series.line ? lines : points);
  }
  return looks;
}

void require_fit(const SvgPlot::Series& series) {
  const auto fail = [&](const std::string& problem) {
    throw InvalidArgument(fmt::format("series '{}' has {}", series.name, problem));
  };
  if (series.x.size() != series.y.size()) fail(fmt::format("{} x and {} y values", series.x.size(), series.y.size()));
  for (const std::vector<double>* errors : {&series.error, &series.error_below}) {
    if (!errors->empty() && errors->size() != series.x.size()) {
      fail(fmt::format("{} errors for {} points (expected one each or none)", errors->size(), series.x.size()));
    }
    for (const double error : *errors) {
      if (error < 0.0) fail(fmt::format("an error of {} (expected >= 0)", error));
    }
  }
}

void require_on_axis(double value, SvgPlot::Scale scale, const char* axis, const std::string& name) {
  const bool logarithmic = scale == SvgPlot::Scale::logarithmic;
  const double least = logarithmic ? 1.0 / PlotAxis::largest : -PlotAxis::largest;
  if (value >= least && value <= PlotAxis::largest) return;
  throw InvalidArgument(fmt::format("'{}' has {} = {} on a {} axis (expected {} to {})", name, axis, value,
                                    logarithmic ? "logarithmic" : "linear", least, PlotAxis::largest));
}

/// Checks that there is something to show and that its axes can show it.
void require_showable(const SvgPlot& plot) {
  bool any = !plot.boxes.empty();
  for (const SvgPlot::Series& series : plot.series) {
    require_fit(series);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!series.is_shown(i)) continue;
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
  }
  if (!any) {
    throw InvalidArgument(
        fmt::format("chart '{}' has no finite point in its {} series", plot.title, plot.series.size()));
  }
  for (const SvgPlot::Marker& marker : plot.markers) {
    if (std::isfinite(marker.x)) require_on_axis(marker.x, plot.x_scale, "x", marker.label);
  }
}

/// A length or coordinate to a hundredth, without trailing zeros.
std::string svg_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string move_to(double x, double y) { return fmt::format("M{} {}", svg_number(x), svg_number(y)); }

std::string text_at(double x, double y, const std::string& attributes, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", svg_number(x), svg_number(y), attributes, content);
}

/// Room for text in any common sans-serif font: rather too much than too little.
double text_width(std::size_t characters, double size) { return 0.62 * size * static_cast<double>(characters); }

/// Text that is cut where it would leave its room.
std::string fitted(const std::string& text, double size, double room) {
  return xml_text(text, static_cast<std::size_t>(std::max(1.0, room / text_width(1, size))));
}

/// A line of the given look along path data.
std::string svg_line(const Look& look, const std::string& path) {
  const std::string dash = *look.dash == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", look.dash);
  return fmt::format(
      "<path class=\"plot-line\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"{} d=\"{}\"/>\n",
      look.colour, dash, path);
}

/// A mark, with a <title> as content or none.
std::string svg_mark(const Look& look, double x, double y, const std::string& content = "") {
  return fmt::format(
      "<path class=\"plot-mark\" fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.8\" transform=\"translate({} {})\" "
      "d=\"{}\">{}</path>\n",
      look.colour, svg_number(x), svg_number(y), look.shape, content);
}

/// A marker's label above the area, `row` rows up from it.
struct PlacedMarker {
  double x;
  double left;
  double right;
  std::size_t row;
  std::string label;
};

/// Draws the parts of a chart whose seconds have their units; its area lies below what stands above it.
class Drawing {
 public:
  Drawing(const SvgPlot& plot, double width)
      : plot_(plot),
        width_(width),
        looks_(series_looks(plot.series)),
        y_axis_(y_axis_of(plot)),
        left_(border + (plot.y_label.empty() ? 0.0 : 24.0) + text_width(y_axis_.longest_label(), small_text) + 9.0),
        x_axis_(x_axis_of(plot, static_cast<std::size_t>((right_ - left_) / text_width(1, small_text)))) {}

  std::string svg() {
    const std::vector<PlacedMarker> placed = place_markers();
    std::size_t rows = 0;
    for (const PlacedMarker& marker : placed) rows = std::max(rows, marker.row + 1);
    top_ = border + (plot_.title.empty() ? 0.0 : title_text + 8.0);
    const std::string names = legend(top_);
    top_ += marker_row * static_cast<double>(rows) + 8.0;
    bottom_ = top_ + area_height;
    const double below = !plot_.corner.empty() ? 61.0 : plot_.x_label.empty() ? 24.0 : 47.0;

    // Lines below bars below marks, so that a fit never hides what was measured.
    std::string data = boxes() + markers(placed), bars, marks;
    for (std::size_t s = 0; s < looks_.size(); ++s) {
      const SvgPlot::Series& series = plot_.series[s];
      if (series.line) data += line(series, looks_[s]);
      bars += error_bars(series, looks_[s]);
      if (!series.line) marks += marks_of(series, looks_[s]);
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "font-family=\"system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif\" fill=\"#222\">\n"
        "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{3}{4}{5}{6}{7}{8}</svg>\n",
        svg_number(width_), svg_number(bottom_ + below + 0.5 * border),
        xml_text(plot_.title.empty() ? plot_.y_label + " against " + plot_.x_label : plot_.title), grid(), data, bars,
        marks, names, captions());
  }

 private:
  double x(double value) const { return left_ + x_axis_.position(value) * (right_ - left_); }
  double y(double value) const {
    const double share = y_axis_.position(value);
    return bottom_ - (plot_.y_downwards ? 1.0 - share : share) * (bottom_ - top_);
  }

  /// Samples and names in rows from `top`, which is moved below them.
  std::string legend(double& top) const {
    std::string text;
    double x = left_;
    for (std::size_t s = 0; s < looks_.size(); ++s) {
      const SvgPlot::Series& series = plot_.series[s];
      if (series.name.empty()) continue;
      const double sample = series.line ? 26.0 : 11.0;
      const double room = width_ - border - left_ - sample - 7.0;
      const double needed = std::min(text_width(count_characters(series.name), label_text), room);
      if (!text.empty() && x + sample + 7.0 + needed > width_ - border) {
        x = left_;
        top += legend_row;
      }
      const double middle = top + 0.5 * legend_row;
      text += series.line ? svg_line(looks_[s], move_to(x + 1.0, middle) + "h" + svg_number(sample - 2.0))
                          : svg_mark(looks_[s], x + 0.5 * sample, middle);
      text += text_at(x + sample + 7.0, middle + 4.5, "class=\"plot-name\"", fitted(series.name, label_text, room));
      x += sample + needed + 23.0;
    }
    if (text.empty()) return "";
    top += legend_row;
    return "<g class=\"plot-legend\" font-size=\"13\">\n" + text + "</g>\n";
  }

  /// Every label as near to its line as it can be and in the lowest row in which it meets no other.
  std::vector<PlacedMarker> place_markers() const {
    std::vector<PlacedMarker> placed;
    const double room = width_ - 2.0 * border;
    for (const SvgPlot::Marker& marker : plot_.markers) {
      if (!std::isfinite(marker.x)) continue;
      const double half = 0.5 * std::min(text_width(count_characters(marker.label), small_text), room);
      const double centre = std::clamp(x(marker.x), border + half, width_ - border - half);
      PlacedMarker next{x(marker.x), centre - half, centre + half, 0, fitted(marker.label, small_text, room)};
      const auto meets = [&](const PlacedMarker& other) {
        return next.row == other.row && next.left < other.right + 8.0 && other.left < next.right + 8.0;
      };
      while (std::any_of(placed.begin(), placed.end(), meets)) ++next.row;
      placed.push_back(std::move(next));
    }
    return placed;
  }

  std::string markers(const std::vector<PlacedMarker>& placed) const {
    std::string lines, labels;
    for (const PlacedMarker& marker : placed) {
      const double base = top_ - 7.0 - marker_row * static_cast<double>(marker.row);
      lines += move_to(marker.x, base + 4.0) + "V" + svg_number(bottom_);
      labels += text_at(0.5 * (marker.left + marker.right), base, "class=\"plot-marker\"", marker.label);
    }
    if (placed.empty()) return "";
    // The white rim keeps a label readable where the line of one further up crosses it.
    return fmt::format(
        "<path fill=\"none\" stroke=\"#555\" stroke-width=\"1.4\" stroke-dasharray=\"5 3\" d=\"{}\"/>\n"
        "<g font-size=\"12\" fill=\"#444\" text-anchor=\"middle\" stroke=\"#fff\" stroke-width=\"3\" "
        "paint-order=\"stroke\">\n{}</g>\n",
        lines, labels);
  }

  /// Title, axis labels and corner, those that the chart has.
  std::string captions() const {
    std::string all;
    const auto add = [&](const std::string& caption, double size, double room, double x, double y,
                         const std::string& attributes) {
      if (!caption.empty()) all += text_at(x, y, attributes, fitted(caption, size, room));
    };
    const std::string centred = "font-size=\"13\" text-anchor=\"middle\"";
    const double x = border + label_text - 2.0, y = 0.5 * (top_ + bottom_);
    const std::string upwards =
        fmt::format("{} transform=\"rotate(-90 {} {})\"", centred, svg_number(x), svg_number(y));
    // Beside the axis where there is room, otherwise across the whole chart.
    const auto fits = [](const std::string& caption, double size, double room) {
      return text_width(count_characters(caption), size) <= room;
    };
    const double left = fits(plot_.title, 1.08 * title_text, width_ - border - left_) ? left_ : border;
    add(plot_.title, 1.08 * title_text, width_ - border - left, left, border + title_text - 2.0,
        "font-size=\"16\" font-weight=\"bold\"");
    const bool is_below_axis = fits(plot_.x_label, label_text, right_ - left_);
    add(plot_.x_label, label_text, is_below_axis ? right_ - left_ : width_ - 2.0 * border,
        is_below_axis ? 0.5 * (left_ + right_) : 0.5 * width_, bottom_ + 42.0, centred);
    add(plot_.corner, 11.0, width_ - 2.0 * border, width_ - border, bottom_ + 58.0,
        "font-size=\"11\" fill=\"#777\" text-anchor=\"end\"");
    add(plot_.y_label, label_text, area_height, x, y, upwards);
    return all;
  }

  /// Grid lines, axes and tick labels.
  std::string grid() const {
    std::string fine, strong, labels;
    const auto down = [&](double value, double to) { return move_to(x(value), top_) + "V" + svg_number(to); };
    const auto across = [&](double value, double from) { return move_to(from, y(value)) + "H" + svg_number(right_); };
    for (const double value : x_axis_.minor_ticks) fine += down(value, bottom_);
    for (const double value : y_axis_.minor_ticks) fine += across(value, left_);
    for (const auto& [value, label] : x_axis_.ticks) {
      strong += down(value, bottom_ + 5.0);
      labels += text_at(x(value), bottom_ + 19.0, "class=\"plot-x-tick\" text-anchor=\"middle\"", label);
    }
    for (const auto& [value, label] : y_axis_.ticks) {
      strong += across(value, left_ - 5.0);
      labels += text_at(left_ - 9.0, y(value) + 4.2, "class=\"plot-y-tick\" text-anchor=\"end\"", label);
    }
    if (!fine.empty()) fine = "<path fill=\"none\" stroke=\"#f0f0f0\" d=\"" + fine + "\"/>\n";
    return fmt::format(
        "{}<path fill=\"none\" stroke=\"#dcdcdc\" d=\"{}\"/>\n<path fill=\"none\" stroke=\"#777\" d=\"{}V{}H{}\"/>\n"
        "<g font-size=\"12\" fill=\"#444\">\n{}</g>\n",
        fine, strong, move_to(left_, top_), svg_number(bottom_), svg_number(right_), labels);
  }

  /// Rectangles, with their text where there is room.
  std::string boxes() const {
    constexpr double character_width = 7.0, line_height = 14.0;
    std::string text;
    for (const SvgPlot::Box& box : plot_.boxes) {
      const double from = x(box.left), to = x(box.right);
      const auto [above, below] = std::minmax({y(box.low), y(box.high)});
      text += fmt::format(
          "<rect class=\"plot-box\" fill=\"{}\" fill-opacity=\"0.8\" stroke=\"#fff\" stroke-width=\"0.8\" x=\"{}\" "
          "y=\"{}\" width=\"{}\" height=\"{}\"><title>{}{:.4g} to {:.4g}, {:.4g} to {:.4g}</title></rect>\n",
          looks_[box.series].colour, svg_number(from), svg_number(above), svg_number(to - from),
          svg_number(below - above), box.text.empty() ? "" : xml_text(box.text) + ": ", box.left, box.right, box.low,
          box.high);
      const double room = character_width * static_cast<double>(count_characters(box.text));
      if (box.text.empty() || room > to - from || line_height > below - above) continue;
      text += text_at(0.5 * (from + to), 0.5 * (above + below) + 4.2, "font-size=\"12\" text-anchor=\"middle\"",
                      xml_text(box.text));
    }
    return text;
  }

  std::string line(const SvgPlot::Series& series, const Look& look) const {
    std::string path;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!series.is_shown(i)) continue;
      const bool begins = i == 0 || !series.is_shown(i - 1);
      const bool ends = i + 1 == series.x.size() || !series.is_shown(i + 1);
      path += fmt::format("{}{} {}", begins ? "M" : "L", svg_number(x(series.x[i])), svg_number(y(series.y[i])));
      if (begins && ends) path += "h0";  // a line of no length has two round ends: a dot
    }
    return path.empty() ? "" : svg_line(look, path);
  }

  /// Error bars that would pass the end of the axis are cut there and have no cap.
  std::string error_bars(const SvgPlot::Series& series, const Look& look) const {
    std::string path;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const auto [low, high] = series.error_bar(i);
      if (!series.is_shown(i) || low == high) continue;
      const double at = x(series.x[i]);
      path += move_to(at, y(low)) + "V" + svg_number(y(high)) + move_to(at - 3.5, y(high)) + "h7";
      if (low >= y_axis_.low) path += move_to(at - 3.5, y(low)) + "h7";
    }
    if (path.empty()) return "";
    return fmt::format("<path class=\"plot-error\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\" d=\"{}\"/>\n",
                       look.colour, path);
  }

  /// Marks, each with its values for whoever points at it.
  std::string marks_of(const SvgPlot::Series& series, const Look& look) const {
    std::string text;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!series.is_shown(i)) continue;
      std::string values = fmt::format("{:.6g}: {:.4g}", series.x[i], series.y[i]);
      const auto [low, high] = series.error_bar(i);
      if (low < high) values += fmt::format(" ({:.4g} to {:.4g})", low, high);
      text += svg_mark(look, x(series.x[i]), y(series.y[i]), "<title>" + values + "</title>");
    }
    return text;
  }

  const SvgPlot& plot_;
  double width_, right_ = width_ - right_border;
  std::vector<Look> looks_;
  PlotAxis y_axis_;
  double left_;
  PlotAxis x_axis_;
  double top_ = 0.0, bottom_ = 0.0;
};

}  // namespace

bool SvgPlot::Series::is_shown(std::size_t i) const { return std::isfinite(x[i]) && std::isfinite(y[i]); }

std::pair<double, double> SvgPlot::Series::error_bar(std::size_t i) const {
  const auto length = [i](const std::vector<double>& errors) { return std::isfinite(errors[i]) ? errors[i] : 0.0; };
  if (error.empty()) return {y[i], y[i]};
  return {y[i] - length(error_below.empty() ? error : error_below), y[i] + length(error)};
}

std::string SvgPlot::text(double width) const {
  require_showable(*this);
  return Drawing(with_units(*this), width).svg();
}

}  // namespace steelyard
