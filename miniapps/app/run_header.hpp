#pragma once

#include <string>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"

namespace steelyard {

/// How the first line of a run ends: `2 ranks on 1 node, partition geometric`.
std::string rank_text(const Session& session, const RunRecord& record);

/// Lines that warn of times which mean little: shared cores, threads that are not bound. Empty where all is well.
/// @param record from describe_run()
std::string core_notes(const RunRecord& record);

}  // namespace steelyard
