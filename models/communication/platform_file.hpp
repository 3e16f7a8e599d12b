#pragma once

#include <filesystem>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// Reads a `*.platform.json` file, schema steelyard.platform/1. Only `schema`, `channels` and of each channel `id` and
/// `path` have to be there (without `scope`, channel 0 is inside nodes and the others are networks); what is there has
/// to be right, also parameters that nobody uses.
/// @throws FileFormatError naming file, key and what was expected: also for a path through a channel that the file does
/// not have, and through one without tau-Lop parameters where the channel itself has them
Platform read_platform_file(const std::filesystem::path& path);

/// Writes one; what is read back is the same, bit for bit (in names, bytes that are not UTF-8 become U+FFFD).
/// @throws InvalidArgument naming key and value of a platform that could not be read back; nothing is written then
/// @throws RuntimeFailure when the file cannot be written
void write_platform_file(const std::filesystem::path& path, const Platform& platform);

}  // namespace steelyard::models
