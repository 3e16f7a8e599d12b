#pragma once

#include "comm/session.hpp"
#include "core/co_execution.hpp"

namespace steelyard {

/// What a prediction adds for every CoExecution::run(): seconds for starting a rank's units and waiting for them,
/// without any work, on the rank that takes longest. Collective.
double start_seconds(const Session& session, CoExecution& co_execution);

}  // namespace steelyard
