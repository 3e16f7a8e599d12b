#include "models/measured_point.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {

void require_points(std::span<const MeasuredPoint> points, const std::string& what) {
  if (points.empty()) throw InvalidArgument(fmt::format("{} of no points (expected at least one)", what));
  double before = 0.0;
  for (const MeasuredPoint& point : points) {
    if (!(point.units > before && std::isfinite(point.units))) {
      throw InvalidArgument(fmt::format("point of {} units after {} (expected increasing sizes)", point.units, before));
    }
    if (!(point.time_s > 0.0 && std::isfinite(point.time_s))) {
      throw InvalidArgument(
          fmt::format("point of {} units takes {} s (expected a finite number > 0)", point.units, point.time_s));
    }
    before = point.units;
  }
}

}  // namespace steelyard::models
