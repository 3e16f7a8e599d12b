#pragma once

#include <vector>

namespace steelyard::models {

/// Seconds by message size, linear between measured sizes.
class SizeTable {
 public:
  struct Point {
    double bytes = 0.0;
    double time_s = 0.0;
    bool operator==(const Point&) const = default;
  };
  /// Rule below the smallest size and above the largest.
  enum class Outside {
    constant,      ///< the time of that size
    proportional,  ///< time grows with size from (0, 0), and beyond the largest size as t(A m) = A t(m)
  };

  /// @throws InvalidArgument without points, for sizes that do not grow from point to point, negative or infinite
  /// values, and a size of 0 where times are proportional
  SizeTable(std::vector<Point> points, Outside outside);

  /// @throws InvalidArgument for a size that is negative or not finite
  double time_s(double bytes) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  Outside outside_;
};

}  // namespace steelyard::models
