#pragma once

#include <optional>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"
#include "miniapps/app/plan.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"

namespace steelyard {

/// What a prediction knows of communication: those of `--platform` or, without it, the channels between these ranks,
/// measured in passing for such messages. How long that took is printed, and kept as `channel_time_s`. Collective.
/// @return nothing for a single rank, and where the ranks are more than the cores, which is printed
/// @throws CollectiveError for a bad file
std::optional<models::Platform> obtain_platform(const Session& session, const RunOptions& options,
                                                const MessageFacts& message, RunRecord& record);

/// These ranks on the platform. Collective.
models::Placement place_ranks(const Session& session, const models::Platform& platform);

}  // namespace steelyard
