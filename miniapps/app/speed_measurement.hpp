#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/app/speed_models.hpp"

namespace steelyard {

/// Measures all slots at the same time at a few sizes up to the even share of `total` (each of at least 1 computation
/// unit, and of no more than the slot holds), once beyond what a unit's own memory holds where `total` is more than
/// that and its kernel runs on, then, as partial models are refined (000, section 2.4.2), at the distribution that
/// `algorithm` makes of them, until it changes by less than 1 %. Collective; every rank gets the same models.
/// @throws CollectiveError for a slot that holds no computation unit, and where `total` does not fit all slots together
SpeedModels measure_speed_models(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                 const MeasurableKernel& kernel, std::int64_t total, const std::vector<Slot>& slots,
                                 const std::string& algorithm);

}  // namespace steelyard
