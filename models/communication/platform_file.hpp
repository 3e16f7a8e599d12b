#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "models/communication/platform.hpp"

namespace steelyard::models {

inline constexpr const char* platform_schema = "steelyard.platform/1";

/// Names of the elements of Channel::Scope in files, in their order.
inline constexpr std::array<const char*, 3> scope_names{"node", "network", "device"};

/// A platform as the JSON of a `*.platform.json` file, without Platform::path. What is empty or not there is left out,
/// except names, scopes and nodes.
nlohmann::ordered_json platform_json(const Platform& platform);

/// The platform that such JSON holds; its Platform::path is `name`, which stands for the file in errors.
/// @throws FileFormatError naming file, key and what was expected
Platform platform_from_json(const std::string& name, const nlohmann::json& json);

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
