#pragma once

#include <filesystem>

#include "core/base/document.hpp"

namespace steelyard::tool {

/// Adds what is to be seen of a folder's runs: machine and build, for each app a table with predicted beside measured
/// times and phases, speed models, and a chart of all predictions. Nothing for a folder without runs.
/// @throws FileFormatError for a result that cannot be read
void add_runs(Document& document, const std::filesystem::path& folder);

}  // namespace steelyard::tool
