#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {

TableModel::TableModel(std::span<const MeasuredPoint> points, double max_units) : SpeedModel(points, max_units) {
  double largest = 0.0;
  for (const MeasuredPoint& point : points) {
    if (fits(point.units)) largest = point.units;
  }
  if (largest == 0.0) {
    throw InvalidArgument(
        fmt::format("limit of {} units below the smallest measured size {}", max_units, points.front().units));
  }
  set_max_units(largest);
}

double TableModel::fitted_speed(double units) const {
  const auto place = std::ranges::lower_bound(points(), units, {}, &MeasuredPoint::units);
  return place != points().end() && place->units == units ? place->speed() : 0.0;
}

double TableModel::units_within(double time_s) const {
  // As time_s() rounds it: the time that the model itself gives for a size has to be enough for that size.
  const auto place = std::find_if(points().rbegin(), points().rend(), [&](const MeasuredPoint& point) {
    return fits(point.units) && this->time_s(point.units) <= time_s;
  });
  return place != points().rend() ? place->units : 0.0;
}

}  // namespace steelyard::models
