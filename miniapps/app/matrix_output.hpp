#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "comm/session.hpp"

namespace steelyard {

/// Takes a block of a matrix that begins at `row` and `column`: rows of `columns` elements, one after the other.
template <class Element>
using BlockSink =
    std::function<void(std::int64_t row, std::int64_t column, std::int64_t columns, std::span<const Element> block)>;

/// Writes a matrix whose blocks are spread over the ranks as a NumPy file, which appears under its name only when it is
/// whole. Does nothing where `path` is empty, the user having named none. For double, float and std::complex of
/// both.
/// Collective.
/// @param store hands this rank's blocks to the sink, in any order; must not communicate
/// @throws CollectiveError when it cannot be written or `store` throws; nothing is left behind then
template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const std::function<void(const BlockSink<Element>& sink)>& store);

}  // namespace steelyard
