#include "core/base/plot/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/plot/plot_area.hpp"
#include "core/base/plot/plot_axis.hpp"
#include "core/base/plot/xml_text.hpp"

namespace steelyard {
namespace {

// Lengths in units of the view box, which is about a pixel on a page.
constexpr double width = 760.0;
constexpr double area_height = 330.0;
constexpr double border = 14.0;
constexpr double right_border = 32.0;  // half of a tick label stands beyond the axis
constexpr double small_text = 12.0;
constexpr double label_text = 13.0;
constexpr double title_text = 16.0;
constexpr double legend_row = 21.0;
constexpr double marker_row = 17.0;

/// Room for text in any common sans-serif font: rather too much than too little.
double text_width(std::size_t characters, double size) { return 0.62 * size * static_cast<double>(characters); }

/// Text that is cut where it would leave its room.
std::string fitted(const std::string& text, double size, double room) {
  return xml_text(text, static_cast<std::size_t>(std::max(1.0, room / text_width(1, size))));
}

/// Axes and sides of the area; how high it lies is settled by what stands above it.
PlotArea area_of(const SvgPlot& plot) {
  require_showable(plot);
  PlotAxis y_axis = y_axis_of(plot);
  std::size_t longest = 0;
  for (const auto& tick : y_axis.ticks()) longest = std::max(longest, count_characters(tick.label));
  const double left = border + (plot.y_label.empty() ? 0.0 : 24.0) + text_width(longest, small_text) + 9.0;
  const double right = width - right_border;
  PlotAxis x_axis = x_axis_of(plot, static_cast<std::size_t>((right - left) / text_width(1, small_text)));
  return {std::move(x_axis), std::move(y_axis), left, 0.0, right, 0.0};
}

std::string text_at(double x, double y, const std::string& attributes, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", svg_number(x), svg_number(y), attributes, content);
}

/// Samples and names in rows from `top`, which is moved below them.
std::string legend(const SvgPlot& plot, const std::vector<SeriesLook>& looks, const PlotArea& area, double& top) {
  std::string text;
  double x = area.left;
  bool empty = true;
  for (std::size_t s = 0; s < looks.size(); ++s) {
    const SvgPlot::Series& series = plot.series[s];
    if (series.name.empty()) continue;
    const double sample = series.line ? 26.0 : 11.0;
    const double room = width - border - area.left - sample - 7.0;
    const double needed = std::min(text_width(count_characters(series.name), label_text), room);
    if (!empty && x + sample + 7.0 + needed > width - border) {
      x = area.left;
      top += legend_row;
    }
    const double middle = top + 0.5 * legend_row;
    text += series.line ? svg_line(looks[s], fmt::format("M{} {}h{}", svg_number(x + 1.0), svg_number(middle),
                                                         svg_number(sample - 2.0)))
                        : svg_mark(looks[s], x + 0.5 * sample, middle);
    text += text_at(x + sample + 7.0, middle + 4.5, "class=\"plot-name\"", fitted(series.name, label_text, room));
    x += sample + needed + 23.0;
    empty = false;
  }
  if (empty) return "";
  top += legend_row;
  return "<g class=\"plot-legend\" font-size=\"13\">\n" + text + "</g>\n";
}

/// A marker's label above the area, `row` rows up from it.
struct PlacedMarker {
  double x;
  double left;
  double right;
  std::size_t row;
  std::string label;
};

/// Every label as near to its line as it can be and in the lowest row in which it meets no other.
std::vector<PlacedMarker> place_markers(const SvgPlot& plot, const PlotArea& area) {
  std::vector<PlacedMarker> placed;
  const double room = width - 2.0 * border;
  for (const SvgPlot::Marker& marker : plot.markers) {
    if (!std::isfinite(marker.x)) continue;
    const double half = 0.5 * std::min(text_width(count_characters(marker.label), small_text), room);
    const double x = area.x(marker.x);
    const double centre = std::clamp(x, border + half, width - border - half);
    PlacedMarker next{x, centre - half, centre + half, 0, fitted(marker.label, small_text, room)};
    const auto meets = [&](const PlacedMarker& other) {
      return next.row == other.row && next.left < other.right + 8.0 && other.left < next.right + 8.0;
    };
    while (std::any_of(placed.begin(), placed.end(), meets)) ++next.row;
    placed.push_back(std::move(next));
  }
  return placed;
}

std::string draw(const std::vector<PlacedMarker>& placed, const PlotArea& area) {
  std::string lines;
  std::string labels;
  for (const PlacedMarker& marker : placed) {
    const double base = area.top - 7.0 - marker_row * static_cast<double>(marker.row);
    lines += fmt::format("M{} {}V{}", svg_number(marker.x), svg_number(base + 4.0), svg_number(area.bottom));
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

/// Title and axis labels.
std::string captions(const SvgPlot& plot, const PlotArea& area) {
  std::string text;
  if (!plot.title.empty()) {
    text += text_at(area.left, border + title_text - 2.0, "font-size=\"16\" font-weight=\"bold\"",
                    fitted(plot.title, 1.08 * title_text, width - border - area.left));
  }
  if (!plot.x_label.empty()) {
    text += text_at(0.5 * (area.left + area.right), area.bottom + 42.0, "font-size=\"13\" text-anchor=\"middle\"",
                    fitted(plot.x_label, label_text, area.right - area.left));
  }
  if (!plot.corner.empty()) {
    text += text_at(width - border, area.bottom + 58.0, "font-size=\"11\" fill=\"#777\" text-anchor=\"end\"",
                    fitted(plot.corner, 11.0, width - 2.0 * border));
  }
  if (!plot.y_label.empty()) {
    const double x = border + label_text - 2.0;
    const double y = 0.5 * (area.top + area.bottom);
    text += text_at(x, y,
                    fmt::format("font-size=\"13\" text-anchor=\"middle\" transform=\"rotate(-90 {} {})\"",
                                svg_number(x), svg_number(y)),
                    fitted(plot.y_label, label_text, area.bottom - area.top));
  }
  return text;
}

}  // namespace

std::string SvgPlot::text() const {
  PlotArea area = area_of(*this);
  const std::vector<SeriesLook> looks = series_looks(series);
  const std::vector<PlacedMarker> placed = place_markers(*this, area);
  std::size_t rows = 0;
  for (const PlacedMarker& marker : placed) rows = std::max(rows, marker.row + 1);

  area.top = border + (title.empty() ? 0.0 : title_text + 8.0);
  const std::string names = legend(*this, looks, area, area.top);
  area.top += marker_row * static_cast<double>(rows) + 8.0;
  area.bottom = area.top + area_height;
  const double height = area.bottom + (!corner.empty() ? 61.0 : x_label.empty() ? 24.0 : 47.0) + 0.5 * border;

  // Lines below bars below marks, so that a fit never hides what was measured.
  std::string data = area.boxes(boxes, looks) + draw(placed, area);
  for (std::size_t s = 0; s < series.size(); ++s) data += series[s].line ? area.line(series[s], looks[s]) : "";
  for (std::size_t s = 0; s < series.size(); ++s) data += area.error_bars(series[s], looks[s]);
  for (std::size_t s = 0; s < series.size(); ++s) data += series[s].line ? "" : area.marks(series[s], looks[s]);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif\" fill=\"#222\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{3}{4}{5}{6}</svg>\n",
      svg_number(width), svg_number(height), xml_text(title.empty() ? y_label + " against " + x_label : title),
      area.grid(), data, names, captions(*this, area));
}

}  // namespace steelyard
