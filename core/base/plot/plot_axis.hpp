#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/plot/svg_plot.hpp"

namespace steelyard {

/// Where values lie on the axis of a chart, and which round values are written beside it.
class PlotAxis {
 public:
  struct Tick {
    double value;
    std::string label;  ///< few digits and perhaps a prefix, such as 250, 0.02, 1.5k, 20M, 64Ki
  };

  static constexpr double largest = 1e300;  ///< value; leaves room for margins and differences

  /// An axis from low to high, both moved outwards to whole steps of 1, 2 or 5 times a power of ten.
  /// @param steps about how many steps the axis shall have
  /// @throws InvalidArgument unless -1e300 <= low <= high <= 1e300
  static PlotAxis linear(double low, double high, int steps);

  /// An axis from a little below low to a little above high, on which equal ratios take equal room.
  /// @param powers_of_two whether the values are sizes that are doubled, so that 64 is rounder than 100
  /// @throws InvalidArgument unless 1e-300 <= low <= high <= 1e300
  static PlotAxis logarithmic(double low, double high, bool powers_of_two);

  static constexpr std::size_t most_names = 40;
  /// An axis from 0 to the number of names, with name i in the middle between i and i + 1; of more names than
  /// `most_names` some are left out.
  static PlotAxis named(const std::vector<std::string>& names);

  /// 0 at the low and 1 at the high end, never decreasing; values beyond an end lie on it.
  double position(double value) const;
  /// The ends of the axis.
  double low() const { return low_; }
  double high() const { return high_; }
  /// Increasing and within the axis.
  const std::vector<Tick>& ticks() const { return ticks_; }
  /// Characters of the longest of their labels.
  std::size_t longest_label() const;
  /// Values between the ticks that get a finer line and no label; increasing and within the axis.
  const std::vector<double>& minor_ticks() const { return minor_ticks_; }

 private:
  PlotAxis(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {}
  void choose_powers(double base);
  void choose_one_two_five();

  double low_;
  double high_;
  bool logarithmic_;
  std::vector<Tick> ticks_;
  std::vector<double> minor_ticks_;
};

/// The chart with its seconds in units in which ticks are plain numbers, and these units in its labels.
SvgPlot with_units(SvgPlot plot);

/// The axis that reaches to all points and markers of a showable chart, with labels that do not meet.
/// @param room_characters how many characters fit beside each other along it
PlotAxis x_axis_of(const SvgPlot& plot, std::size_t room_characters);

/// The axis that reaches to all points and error bars of a showable chart. Linear: from 0 when no value is below 0,
/// even if a bar is. Logarithmic: below a point for at most half its value, since a bar can reach down there without
/// end.
PlotAxis y_axis_of(const SvgPlot& plot);

}  // namespace steelyard
