#pragma once

#include "models/speed_model.hpp"

namespace steelyard::partition {

/// Whether two models are one, or of the same kind, points, limits and breakpoints, so that they answer alike. Models
/// given as formulas, without points, are the same only where they are one.
bool same_model(const models::SpeedModel& one, const models::SpeedModel& other);

}  // namespace steelyard::partition
