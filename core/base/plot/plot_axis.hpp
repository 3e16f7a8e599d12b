#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/plot/svg_plot.hpp"

namespace steelyard {

/// Axis of a chart: where values lie on it, and which round values are written beside it.
struct PlotAxis {
  struct Tick {
    double value;
    std::string label;  ///< few digits and perhaps a prefix, such as 250, 0.02, 1.5k, 20M, 64Ki
  };

  static constexpr double largest = 1e300;  ///< value; leaves room for margins and differences

  double low, high;  ///< the ends
  bool is_logarithmic = false;
  std::vector<Tick> ticks = {};          ///< increasing and within the axis
  std::vector<double> minor_ticks = {};  ///< values between the ticks that get a finer line and no label

  /// 0 at the low and 1 at the high end, never decreasing; values beyond an end lie on it.
  double position(double value) const;
  /// Characters of the longest of the ticks' labels.
  std::size_t longest_label() const;
};

/// The chart with its seconds in units in which ticks are plain numbers, and these units in its labels.
SvgPlot with_units(SvgPlot plot);

/// The axis that reaches to all points and markers of a showable chart, with labels that do not meet.
/// @param room_characters how many characters fit beside each other along it
PlotAxis x_axis_of(const SvgPlot& plot, std::size_t room_characters);

/// The axis that reaches to all points and error bars of a showable chart. Linear: from 0 when no value is below 0,
/// even if a bar is. Logarithmic: down to half of the least point at most, since bars can reach down without end.
PlotAxis y_axis_of(const SvgPlot& plot);

}  // namespace steelyard
