#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard::models {

OutOfCoreModel::OutOfCoreModel(std::span<const MeasuredPoint> points, double in_core_units, double max_units,
                               const Build& build)
    : SpeedModel(points, max_units), in_core_units_(in_core_units) {
  if (!(in_core_units > 0.0 && in_core_units < max_units)) {
    throw InvalidArgument(
        fmt::format("{} units in core of {} in all (expected 0 < in core < all)", in_core_units, max_units));
  }
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(points, [&](const MeasuredPoint& point) { return point.units <= in_core_units; }));
  if (count == 0 || count == points.size()) {
    throw InvalidArgument(fmt::format("{} of {} points fit into {} units (expected points in core and out of core)",
                                      count, points.size(), in_core_units));
  }
  in_core_ = build(points.first(count), in_core_units);
  out_of_core_ = build(points.subspan(count), max_units);
  // It may end before the unit's memory does.
  set_max_units(out_of_core_->max_units());
  for (const auto* model : {&in_core_, &out_of_core_}) {
    dropped_.insert(dropped_.end(), (*model)->dropped().begin(), (*model)->dropped().end());
  }
}

double OutOfCoreModel::fitted_speed(double units) const {
  return (units <= in_core_units_ ? in_core_ : out_of_core_)->speed(units);
}

double OutOfCoreModel::units_within(double time_s) const {
  const double out_of_core = out_of_core_->units_within(time_s);
  return out_of_core > in_core_units_ ? out_of_core : in_core_->units_within(time_s);
}

std::vector<double> OutOfCoreModel::breakpoints() const {
  std::vector<double> sizes = in_core_->breakpoints();
  std::erase_if(sizes, [&](double size) { return size >= in_core_units_; });
  // Time may jump to the next size, which is out of core.
  sizes.push_back(in_core_units_);
  sizes.push_back(std::nextafter(in_core_units_, 2.0 * in_core_units_));
  for (const double size : out_of_core_->breakpoints()) {
    if (size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace steelyard::models
