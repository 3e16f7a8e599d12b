#include "models/communication/platform_file.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "models/communication/platform_json.hpp"

namespace steelyard::models {

Platform read_platform_file(const std::filesystem::path& path) {
  return platform_from_json(path.string(), read_json_file(path));
}

void write_platform_file(const std::filesystem::path& path, const Platform& platform) {
  const nlohmann::ordered_json json = platform_json(platform);
  try {
    platform_from_json(path.string(), json);
  } catch (const FileFormatError& error) {
    throw InvalidArgument(fmt::format("{} (a platform that could not be read back is not written)", error.what()));
  }
  write_json_file(path, json);
}

}  // namespace steelyard::models
