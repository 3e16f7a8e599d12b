#pragma once

#include "comm/session.hpp"
#include "miniapps/wave2d/options.hpp"

namespace steelyard::wave2d {

/// The whole run: units, speed models, distribution and prediction, repetitions, verification, results. Collective.
/// @throws CollectiveError for what the user got wrong
ExitCode run(Session& session, const Options& options);

}  // namespace steelyard::wave2d
