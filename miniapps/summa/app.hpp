#pragma once

#include "comm/session.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {

/// The whole run: models, rectangles, prediction, multiplication, verification, report. Collective.
/// @throws CollectiveError
ExitCode run(Session& session, const Options& options);

}  // namespace steelyard::summa
