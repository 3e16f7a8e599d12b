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

/// Speed models that a run keeps as `models/rank<rank>-<host|device><suffix>.fpm.json`, one for every slot.
struct KeptModels {
  std::string suffix;
  std::vector<models::FpmFile> files;
};

/// Writes `run.json`, `samples.jsonl` and the models into the folder, and prints where that is. Does nothing where the
/// user named none. Collective.
/// @throws CollectiveError when they cannot be written
void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<KeptModels>& models);

}  // namespace steelyard
