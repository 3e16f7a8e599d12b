#include "models/speed_model.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/base/errors.hpp"

namespace steelyard::models {

double SpeedModel::max_units() const { return std::numeric_limits<double>::infinity(); }

void SpeedModel::require_units(double units) {
  if (!(units >= 0.0)) throw InvalidArgument(fmt::format("{} computation units (expected a number >= 0)", units));
}

}  // namespace steelyard::models
