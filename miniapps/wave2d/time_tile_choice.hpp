#pragma once

#include <optional>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "miniapps/wave2d/options.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::wave2d {

/// Steps per pass that are worth considering for a grid: 1, 2, 4, … as long as halos stay a small part of what a unit
/// has and a run has several passes.
/// @param most_steps of a pass
std::vector<int> time_tile_candidates(const Problem& problem, std::int64_t steps, std::size_t units,
                                      int most_steps = most_steps_per_pass);

/// The longest pass that all units of all ranks can make; a device's scratch memory limits it. Collective.
int most_steps_of_units(const Session& session, const RankUnits& units, const Problem& problem, ElementType element);

/// Steps per pass: those of `--time-tile`, those of the models of `--model`, or of the candidates the one whose steps
/// cost least: passes sampled on all units at once (see sample_passes()), scaled to an even share, plus the predicted
/// exchange. What was chosen and how long that took is printed, and kept as `time_tile` and `time_tile_time_s`.
/// Collective.
/// @throws CollectiveError as read_speed_models(), and where memory is short
int choose_time_tile(const Session& session, CoExecution& co_execution, const RankUnits& units, const Options& options,
                     const Problem& problem, const std::vector<Slot>& slots,
                     const std::optional<models::Platform>& platform, RunRecord& record);

}  // namespace steelyard::wave2d
