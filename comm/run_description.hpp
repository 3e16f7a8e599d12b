#pragma once

#include <string>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"

namespace steelyard {

/// Makes the part of a record that all apps share: program, versions, hosts, units of all ranks, and the options that
/// every app has. `settings["cores"]` says who chose the cores and whether they are oversubscribed or unbound.
/// Collective.
RunRecord describe_run(const Session& session, const std::string& app, const RunOptions& options,
                       const RankUnits& units);

/// True when some rank's threads could not be bound to their cores. Collective.
bool any_unbound(const Session& session, const RankUnits& units);

/// True when some core of the run serves two threads. Collective.
bool any_oversubscribed(const Session& session, const RankUnits& units);

}  // namespace steelyard
