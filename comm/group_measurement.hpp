#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "core/co_execution.hpp"
#include "models/measured_point.hpp"

namespace steelyard {

/// When a measurement may stop. Source: 000, section 6.1.2 (fupermod_precision); 002, section 1.
struct Precision {
  double confidence = 0.95;  ///< level of Student's t interval
  double relative = 0.025;   ///< its half width over the mean
  int repetitions_min = 3;
  int repetitions_max = 30;
  int warmups = 1;
  double time_limit_s = 3.0;  ///< per point, warm-up excluded
};

/// Seconds of one kernel run on each unit of this rank.
using RunOnce = std::function<UnitSeconds()>;

/// What one rank's units took; `units` of the points is left for the caller to fill in.
struct GroupPoint {
  models::MeasuredPoint host;
  models::MeasuredPoint companion;
};

/// Measures all units of all ranks at the same time, each repetition started at a barrier, until every one is precise,
/// the time is up or the repetitions are used up: contention for shared resources is part of the result. Source: 000,
/// sections 3.2 and 6.1.2. Collective.
GroupPoint measure_group(MPI_Comm comm, const RunOnce& run, const Precision& precision);

}  // namespace steelyard
