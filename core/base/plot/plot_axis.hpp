#pragma once

#include <string>
#include <vector>

namespace steelyard {

/// Where values lie on the axis of a chart, and which round values are written beside it.
class PlotAxis {
 public:
  struct Tick {
    double value;
    std::string label;  ///< few digits and an SI prefix, such as 250, 1.5k, 20M, 64Ki
  };

  /// An axis from low to high, both moved outwards to whole steps of 1, 2 or 5 times a power of ten.
  /// @param steps about how many steps the axis shall have
  /// @throws InvalidArgument unless -1e300 <= low <= high <= 1e300
  static PlotAxis linear(double low, double high, int steps);

  /// An axis from a little below low to a little above high, on which equal ratios take equal room.
  /// @param powers_of_two whether the values are sizes that are doubled, so that 64 is rounder than 100
  /// @throws InvalidArgument unless 1e-300 <= low <= high <= 1e300
  static PlotAxis logarithmic(double low, double high, bool powers_of_two);

  /// An axis from 0 to the number of names, with name i in the middle between i and i + 1; of very many some are left
  /// out.
  static PlotAxis named(const std::vector<std::string>& names);

  /// Swaps the ends.
  void reverse() { reversed_ = !reversed_; }

  /// 0 at the low and 1 at the high end, never decreasing, or the other way round where the ends are swapped; values
  /// beyond an end lie on it.
  double position(double value) const;
  /// The ends of the axis.
  double low() const { return low_; }
  double high() const { return high_; }
  /// Increasing and within the axis.
  const std::vector<Tick>& ticks() const { return ticks_; }
  /// Values between the ticks that get a finer line and no label; increasing and within the axis.
  const std::vector<double>& minor_ticks() const { return minor_ticks_; }

 private:
  PlotAxis(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {}
  double share(double value) const;
  void choose_powers(double base);
  void choose_one_two_five();

  double low_;
  double high_;
  bool logarithmic_;
  bool reversed_ = false;
  std::vector<Tick> ticks_;
  std::vector<double> minor_ticks_;
};

}  // namespace steelyard
