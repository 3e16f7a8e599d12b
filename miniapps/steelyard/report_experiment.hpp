#pragma once

#include <filesystem>

#include "core/base/document.hpp"

namespace steelyard::tool {

/// Adds an experiment of benchmarks/papers: its question, charts and tables, the paper's numbers beside them, and what
/// differs in hardware. benchmarks/papers/README.md has the format. @param folder with experiment.json
/// @throws FileFormatError for files that do not have it
void add_experiment(Document& document, const std::filesystem::path& folder);

}  // namespace steelyard::tool
