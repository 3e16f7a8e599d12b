#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"
#include "models/fpm_file.hpp"

namespace steelyard {

/// Asks, before anything runs, whether `--output` and `--result` could be written at the end, and says where the folder
/// has the result of an earlier run, which this one's will replace. Collective.
/// @throws CollectiveError
void require_outputs(const Session& session, const RunOptions& options);

/// Takes a block of a matrix that begins at `row` and `column`: rows of `columns` elements, one after the other.
template <class Element>
using BlockSink =
    std::function<void(std::int64_t row, std::int64_t column, std::int64_t columns, std::span<const Element> block)>;

/// Hands this rank's blocks to the sink, in any order; must not communicate.
template <class Element>
using MatrixStore = std::function<void(const BlockSink<Element>& sink)>;

/// Writes a matrix whose blocks are spread over the ranks as a NumPy file, which appears under its name only when it is
/// whole. Does nothing where `path` is empty, the user having named none. For double, float and std::complex of both.
/// Collective. @throws CollectiveError when it cannot be written or `store` throws; nothing is left behind then
template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store);

/// Speed models that a run keeps as `models/rank<rank>-<host|device><suffix>.fpm.json`, one for every slot.
struct KeptModels {
  std::string suffix;
  std::vector<models::FpmFile> files;
};

/// Writes `run.json`, `samples.jsonl` and the models into the folder. Not collective: for rank 0.
/// @return the line that says where that is; nothing is written where the user named no folder @throws RuntimeFailure
std::string write_result(const std::filesystem::path& folder, const RunRecord& record, const std::vector<Slot>& slots,
                         const std::vector<KeptModels>& models);

/// Has rank 0 write the folder, and prints the line. Collective. @throws CollectiveError when they cannot be written
void write_result_folder(const Session& session, const std::filesystem::path& folder, const RunRecord& record,
                         const std::vector<Slot>& slots, const std::vector<KeptModels>& models);

}  // namespace steelyard
