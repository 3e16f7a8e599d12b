#pragma once

#include <filesystem>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// Reads a `*.platform.json` file, schema steelyard.platform/1.
/// @throws FileFormatError naming file, key and what was expected
Platform read_platform_file(const std::filesystem::path& path);

/// Writes one; what is read back is the same, bit for bit.
/// @throws FileFormatError where it cannot be written
void write_platform_file(const std::filesystem::path& path, const Platform& platform);

}  // namespace steelyard::models
