#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace steelyard {

/// A chart of lines and points against common axes, as SVG that needs nothing from elsewhere and scales with its page.
struct SvgPlot {
  enum class Scale { linear, logarithmic };

  /// Points at (x[i], y[i]); those that are not finite are left out and break a line.
  struct Series {
    std::string name;  ///< in the legend; empty for no place there
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> error = {};  ///< half length of the error bar of each point; empty, 0 or not finite for none
    bool line = false;               ///< joined by a line; otherwise marks
    /// Number of the colour, so that a line can have that of its points; otherwise the place in the chart's series.
    std::optional<std::size_t> colour = {};
    std::vector<double> error_below = {};  ///< of bars that end elsewhere below their points; empty: as above

    bool is_shown(std::size_t i) const;
    /// Where a point's error bar ends; at the point for none.
    std::pair<double, double> error_bar(std::size_t i) const;
  };

  /// A rectangle between values of both axes: of a bar chart, a time line or a matrix that is shared out.
  struct Box {
    double left;
    double right;
    double low;
    double high;
    std::size_t series;     ///< whose colour and place in the legend it has; a series may have boxes alone
    std::string text = {};  ///< within it, where there is room
  };

  /// A vertical line at x with a label above the chart, such as a limit; left out where x is not finite.
  struct Marker {
    double x;
    std::string label;
  };

  std::string title;
  std::string x_label;  ///< with its unit in brackets; (s) becomes (ms), (µs) or (ns) where that makes plain numbers
  std::string y_label;
  std::string corner = {};  ///< small, at the lower right: machine and date
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;  ///< linear: from 0 when no value is below 0
  std::vector<Series> series = {};
  std::vector<Marker> markers = {};       ///< the x axis reaches to all of them
  std::vector<Box> boxes = {};            ///< of finite values; on logarithmic axes of positive ones
  std::vector<std::string> x_names = {};  ///< in place of numbers: name i stands below i + 0.5; empty for numbers
  std::vector<std::string> y_names = {};  ///< name i stands beside i + 0.5
  bool y_downwards = false;               ///< as rows of a matrix are counted; of linear axes and names

  static constexpr double wide = 760.0, narrow = 420.0;  ///< widths for windows and for telephones

  /// The chart as an <svg> element of UTF-8 text; equal charts give equal text. @param width of its view box, where
  /// letters have 12 to 16
  /// @throws InvalidArgument for series of unequal length, a negative error, no finite point at all, or a value that
  /// its axis cannot show: <= 0 on a logarithmic one, or beyond 1e300
  std::string text(double width = wide) const;
};

}  // namespace steelyard
