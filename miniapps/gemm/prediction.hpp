#pragma once

#include <cstdint>
#include <string>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/speed_models.hpp"
#include "partition/distribution.hpp"

namespace steelyard::gemm {

/// What is known before a run: who does what, and how long it should take.
struct Prediction {
  partition::Distribution distribution;  ///< block rows and seconds of every slot
  double start_s = 0.0;                  ///< starting the units and waiting for both
  double time_s = 0.0;                   ///< until the slowest unit of all ranks is done
};

/// Distributes the block rows and predicts a multiplication: every unit's slice from its model, all at the same time;
/// ranks have nothing to tell each other. Collective. @throws CollectiveError for a distribution that does not fit
Prediction predict(const Session& session, CoExecution& co_execution, const std::string& algorithm,
                   std::int64_t block_rows, const SpeedModels& models);

}  // namespace steelyard::gemm
