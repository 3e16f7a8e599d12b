#pragma once

#include <filesystem>
#include <vector>

#include "partition/rectangle.hpp"

namespace steelyard::summa {

/// Rectangles of blocks from a JSON file with an array `rectangles` of {"row", "column", "rows", "columns"}; one
/// without rows or columns is empty.
/// @throws FileFormatError naming file and key unless there are `processes` rectangles that cover every block of a
/// matrix of these extents exactly once
std::vector<partition::Rectangle> read_rectangles(const std::filesystem::path& path, const partition::Extents& extents,
                                                  int processes);

}  // namespace steelyard::summa
