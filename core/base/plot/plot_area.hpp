#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/plot/plot_axis.hpp"
#include "core/base/plot/svg_plot.hpp"

namespace steelyard {

/// Whether the chart shows the point: both coordinates are finite.
bool is_shown(const SvgPlot::Series& series, std::size_t i);

/// Where a point's error bar ends; at the point for none.
std::pair<double, double> error_bar(const SvgPlot::Series& series, std::size_t i);

/// Checks that there is something to show and that its axes can show it.
/// @throws InvalidArgument as SvgPlot::text says
void require_showable(const SvgPlot& plot);

/// The axis that reaches to all points and markers of a showable chart, with labels that do not meet.
/// @param room_characters how many characters fit beside each other along it
PlotAxis x_axis_of(const SvgPlot& plot, std::size_t room_characters);

/// The axis that reaches to all points and error bars of a showable chart. Linear: from 0 when no value is below 0,
/// even if a bar is. Logarithmic: below a point for at most half its value, since a bar can reach down there without
/// end.
PlotAxis y_axis_of(const SvgPlot& plot);

/// How a series is told from the others: by colour, and without colour by the shape of its marks or the dashes of its
/// line.
struct SeriesLook {
  std::string colour;
  std::string shape;  ///< path around (0, 0)
  std::string dash;   ///< stroke-dasharray; empty for none
};

/// A look for each series, different from the others' for the first six of marks and the first four of lines.
std::vector<SeriesLook> series_looks(const std::vector<SvgPlot::Series>& all);

/// A length or coordinate to a hundredth, without trailing zeros.
std::string svg_number(double value);

/// A line of the given look along path data, and a mark that may hold a <title>.
std::string svg_line(const SeriesLook& look, const std::string& path);
std::string svg_mark(const SeriesLook& look, double x, double y, const std::string& content = "");

/// The rectangle in which values are drawn, in coordinates of the view box.
struct PlotArea {
  PlotAxis x_axis;
  PlotAxis y_axis;
  double left;
  double top;
  double right;
  double bottom;

  double x(double value) const { return left + x_axis.position(value) * (right - left); }
  double y(double value) const { return bottom - y_axis.position(value) * (bottom - top); }
  /// Grid lines, axes and tick labels.
  std::string grid() const;
  /// Rectangles, with their text where there is room.
  std::string boxes(const std::vector<SvgPlot::Box>& all, const std::vector<SeriesLook>& looks) const;
  std::string line(const SvgPlot::Series& series, const SeriesLook& look) const;
  /// Error bars that would pass the end of the axis are cut there and have no cap.
  std::string error_bars(const SvgPlot::Series& series, const SeriesLook& look) const;
  /// Marks, each with its values for whoever points at it.
  std::string marks(const SvgPlot::Series& series, const SeriesLook& look) const;
};

}  // namespace steelyard
