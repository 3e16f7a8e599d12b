#pragma once

#include <cstdint>
#include <string>

#include "core/measurable_kernel.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/speed_models.hpp"

namespace steelyard {

/// Measures all slots at the same time: parts of `total`, evenly shared at first and then by the speeds just measured
/// (at least 1 computation unit a slot, and no more than it holds), once beyond what a unit's own memory holds where
/// `total` is more than that and its kernel runs on, then, as partial models are refined (000, section 2.4.2), at the
/// distribution that `algorithm` makes of them, until it changes by less than 2 %. The larger parts come a second time,
/// which says how speed drifts. Collective; every rank gets the same models.
/// @throws CollectiveError for a slot that holds no computation unit, and where `total` does not fit all slots together
SpeedModels measure_speed_models(Frame& frame, const MeasurableKernel& kernel, std::int64_t total,
                                 const std::string& algorithm);

}  // namespace steelyard
