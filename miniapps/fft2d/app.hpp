#pragma once

#include "comm/session.hpp"
#include "miniapps/fft2d/options.hpp"

namespace steelyard::fft2d {

/// The whole run: units, speed models, distribution and prediction, repetitions, verification, results. Collective.
/// @throws CollectiveError for what the user got wrong
ExitCode run(Session& session, const Options& options);

}  // namespace steelyard::fft2d
