#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/plot/rgb.hpp"

namespace steelyard {

/// Legend of a picture's colours.
struct PictureLegend {
  Rgb (*colour)(double);  ///< of the values from `first` to 1
  double first = 0.0;
  std::string low, high;  ///< what the ends of the colours stand for, with their unit
  std::string caption;    ///< such as the time; of letters a to z, digits and . - + = ( ) / :

  static constexpr std::int64_t rows = 30;            ///< of a legend
  static constexpr std::int64_t least_columns = 240;  ///< narrower pictures have no legend

  /// Pixels to stand below a picture so wide, row after row: a bar with its labels on the left, the caption on the
  /// right, which is cut where there is no room; none where the picture is too narrow.
  std::vector<Rgb> pixels(std::int64_t columns) const;
};

}  // namespace steelyard
