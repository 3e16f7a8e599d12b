#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "partition/distribution.hpp"

namespace steelyard::wave2d {

/// What is known before a run: who does what, and how long a step should take.
struct Prediction {
  partition::Distribution distribution;  ///< rows and kernel seconds per step of every slot
  double start_s = 0.0;                  ///< per step: starting the units and waiting for both
  double exchange_s = 0.0;               ///< per step, of the rank with the most of it
  double step_s = 0.0;                   ///< per step, of the slowest rank
};

/// Distributes the rows and predicts a step: every unit's kernels from its model and, on the unit that drives MPI,
/// after them one message per neighbour on another rank, by Hockney's model (003, equations 5.1 and 5.8-5.10 with
/// borders and interior as one). Message parameters come from the platform file or, without one, are measured here.
/// Collective.
/// @throws CollectiveError for an unusable platform file or a distribution that does not fit
Prediction predict(const Session& session, CoExecution& co_execution, const RunOptions& options, const Problem& problem,
                   const std::vector<Slot>& slots, const SpeedModels& models);

}  // namespace steelyard::wave2d
