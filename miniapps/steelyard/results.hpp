#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace steelyard::tool {

/// All runs of one configuration in a folder of results: one, or several rounds of it.
struct Configuration {
  std::vector<std::filesystem::path> folders;  ///< of each run
  std::vector<nlohmann::json> runs;            ///< contents of each `run.json`
  std::vector<double> times_s;                 ///< of all repetitions
};

/// By name: the path below the folder, without a number at its end, which is a round.
using Results = std::map<std::string, Configuration>;

/// The last word of a path, also where it ends with a slash.
std::string folder_name(const std::filesystem::path& folder);

/// What a run computes, by name: its app, element type and parameters but for those that say how it does.
nlohmann::json problem_of(const nlohmann::json& run);

/// Reads a result (`--result`), whose name is then empty, or all below a folder; those of experiments, in whose folder
/// an `experiment.json` lies, count as theirs and are left out. @throws FileFormatError for a file that is no result's
Results read_results(const std::filesystem::path& folder);

}  // namespace steelyard::tool
