#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "comm/session.hpp"

namespace steelyard {

/// Takes `count` rows of a matrix from row `first`, one after the other.
template <class Element>
using RowSink = std::function<void(std::int64_t first, std::int64_t count, std::span<const Element> rows)>;

/// Writes a matrix whose rows are spread over the ranks as a NumPy file, which appears under its name only when it is
/// whole. Does nothing where `path` is empty, the user having named none. For double, float and std::complex<double>.
/// Collective.
/// @param store hands this rank's rows to the sink, some at a time; must not communicate
/// @throws CollectiveError when it cannot be written or `store` throws; nothing is left behind then
template <class Element>
void write_rows(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                const std::function<void(const RowSink<Element>& sink)>& store);

}  // namespace steelyard
