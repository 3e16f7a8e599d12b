#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "comm/session.hpp"
#include "core/base/npy.hpp"
#include "miniapps/app/outputs.hpp"

namespace steelyard {

/// State of a run between two steps, a matrix of rows x columns.
///
/// Its file is a NumPy array with a line of JSON behind it, where NumPy does not look: `schema`
/// "steelyard.checkpoint/2", `problem`, `steps` and `checksum`, the sum of a hash of each element, and of each
/// character of the other facts, with its place, as 16 hexadecimal digits.
struct Checkpoint {
  std::int64_t rows = 0, columns = 0;
  nlohmann::json problem;  ///< what the state is of; a run goes on from no other problem's
  std::int64_t steps = 0;  ///< that led to it
};

/// Writes a checkpoint whose blocks are spread over the ranks, which replaces an earlier one when it is whole.
/// Collective. @throws CollectiveError when it cannot be written or `store` throws; the earlier one is there then
template <class Element>
void write_checkpoint(const Session& session, const std::filesystem::path& path, const Checkpoint& checkpoint,
                      const MatrixStore<Element>& store);

/// Reads all but the elements, for which there is read_npy_block(). @param expected without steps, and of its problem
/// what must be the same @return with all that the file says of the problem
/// @throws FileFormatError where it is no checkpoint of this problem and size, cut off or damaged
template <class Element>
Checkpoint read_checkpoint(const std::filesystem::path& path, const Checkpoint& expected);

}  // namespace steelyard
