#pragma once

#include <span>

namespace steelyard::models {

class SpeedModel;

/// The largest x <= model.max_units() with model.time_s(x) <= `time_s`, for models of any continuous shape: looks at
/// each gap between the breakpoints from the right, in 32 parts, and bisects where the time passes `time_s`; beyond the
/// last breakpoint time has to grow. Dips narrower than a part can be missed.
double largest_size_within(const SpeedModel& model, double time_s, std::span<const double> breakpoints);

}  // namespace steelyard::models
