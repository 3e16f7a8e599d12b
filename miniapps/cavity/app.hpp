#pragma once

#include "comm/session.hpp"
#include "miniapps/cavity/options.hpp"

namespace steelyard::cavity {

/// The whole run: units, speed models, distribution and prediction, repetitions, verification, results. Collective.
/// @throws CollectiveError for what the user got wrong, SolveFailure where a linear solver fails
ExitCode run(Session& session, const Options& options);

}  // namespace steelyard::cavity
