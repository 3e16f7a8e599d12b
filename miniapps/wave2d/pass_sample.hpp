#pragma once

#include <cstdint>

#include "comm/kernel_measurement.hpp"
#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "core/options.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "miniapps/wave2d/unit_times.hpp"

namespace steelyard::wave2d {

/// What one unit did in a short run: medians of some passes.
struct UnitSample {
  std::int64_t rows = 0;
  double pass_s = 0.0;  ///< with what an emulated slowdown adds, like everything here
  UnitTimes times;
  EdgePoints points;
};

struct PassSamples {
  UnitSample host;
  UnitSample companion;
};

/// Runs some passes on all units of all ranks at once, on as many rows as `share` says or fewer, if that is enough to
/// be out of the caches: a second or so. Collective.
/// @param share rows of this rank's units; 0 for a unit that stays idle
/// @throws CollectiveError where memory is short
PassSamples sample_passes(const Session& session, CoExecution& co_execution, const RankUnits& units,
                          const Problem& problem, ElementType element, int steps, const UnitSizes& share,
                          Overlap overlap);

}  // namespace steelyard::wave2d
