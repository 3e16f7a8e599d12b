#pragma once

#include "comm/session.hpp"
#include "miniapps/gemm/options.hpp"

namespace steelyard::gemm {

/// The whole run: units, speed models, distribution and prediction, repetitions, verification, results. Collective.
/// @throws CollectiveError for what the user got wrong
ExitCode run(Session& session, const Options& options);

}  // namespace steelyard::gemm
