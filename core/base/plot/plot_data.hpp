#pragma once

#include <cstddef>

#include "core/base/plot/plot_axis.hpp"
#include "core/base/plot/svg_plot.hpp"

namespace steelyard {

/// Whether the chart shows the point: both coordinates are finite.
bool is_shown(const SvgPlot::Series& series, std::size_t i);

/// Half length of a point's error bar; 0 for none.
double shown_error(const SvgPlot::Series& series, std::size_t i);

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

}  // namespace steelyard
