#pragma once

#include <cstdint>
#include <string>

#include "core/measurable_kernel.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/speed_models.hpp"

namespace steelyard {

/// Measures all slots at the same time at a few sizes up to the even share of `total` (each of at least 1 computation
/// unit, and of no more than the slot holds), once beyond what a unit's own memory holds where `total` is more than
/// that and its kernel runs on, then, as partial models are refined (000, section 2.4.2), at the distribution that
/// `algorithm` makes of them, until it changes by less than 1 %. The largest sizes come a second time, which says how
/// speed drifts. Collective; every rank gets the same models.
/// @throws CollectiveError for a slot that holds no computation unit, and where `total` does not fit all slots together
SpeedModels measure_speed_models(Frame& frame, const MeasurableKernel& kernel, std::int64_t total,
                                 const std::string& algorithm);

}  // namespace steelyard
