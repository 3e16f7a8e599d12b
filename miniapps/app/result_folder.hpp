#pragma once

#include <filesystem>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/base/run_record.hpp"
#include "models/fpm_file.hpp"

namespace steelyard {

/// Asks, before anything runs, whether `--output` and `--result` could be written at the end. Collective.
/// @throws CollectiveError
void require_outputs(const Session& session, const RunOptions& options);

/// Writes `run.json`, `samples.jsonl` and `models/rank<rank>-<host|device>.fpm.json` of every slot into the folder, and
/// prints where that is. Does nothing where the user named none. Collective.
/// @param files speed models of all slots, or none
/// @throws CollectiveError when they cannot be written
void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<models::FpmFile>& files);

}  // namespace steelyard
