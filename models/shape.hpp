#pragma once

#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::models {

/// Restriction on the shape of a speed function of measured points, and which points satisfy it.
enum class Shape {
  increasing_time,  ///< the default: as many as possible such that time grows with size: any line through the origin
                    ///< then meets the speed function once (000, section 2.4.2)
  as_measured,      ///< all
};

/// For each point, whether it is kept. Of several largest sets the choice is deterministic.
/// @param points at least one, by size
std::vector<bool> points_in_shape(Points points, Shape shape);

/// How far measured speeds are from a smooth function of the size.
struct Variation {
  /// Speeds of the lines through the local minima and through the local maxima, at a measured size.
  struct Band {
    double units = 0.0;
    double speed_low = 0.0;
    double speed_high = 0.0;
  };

  double largest = 0.0;     ///< of neighbouring extrema, |s1 - s2| / min(s1, s2)
  double widest = 0.0;      ///< of the band, high / low - 1
  std::vector<Band> bands;  ///< at every measured size
};

/// Variation of points in the order of their sizes; the first and the last one count as minima and as maxima. All 0
/// without points. Source: 002, equation 1 and section 6.2.3.
Variation variation(Points points);

}  // namespace steelyard::models
