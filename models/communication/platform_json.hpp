#pragma once

#include <array>
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

}  // namespace steelyard::models
