#include "miniapps/steelyard/results.hpp"

#include <algorithm>
#include <fstream>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"

namespace steelyard::tool {
namespace {

std::string configuration_name(const std::filesystem::path& below) {
  const std::string last = below.filename().string();
  const bool is_round =
      !last.empty() && std::all_of(last.begin(), last.end(), [](char c) { return '0' <= c && c <= '9'; });
  return (is_round ? below.parent_path() : below).string();
}

/// The values of `time_s` in a run's `samples.jsonl`.
std::vector<double> read_times(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw FileFormatError(path.string(), "", "cannot be opened");
  std::vector<double> times_s;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json sample = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!sample.is_object()) throw FileFormatError(path.string(), "", "holds a line that is no JSON object");
    const JsonReader reader(path.string(), sample);
    if (reader.text("metric") == "time_s") times_s.push_back(reader.number("value"));
  }
  return times_s;
}

}  // namespace

std::string folder_name(const std::filesystem::path& folder) {
  return (folder / "").lexically_normal().parent_path().filename().string();
}

nlohmann::json problem_of(const nlohmann::json& run) {
  nlohmann::json problem{{"app", run.value("app", "")}};
  const nlohmann::json nothing = nlohmann::json::object(), settings = run.value("settings", nothing);
  for (const char* const name : {"element", "boundary", "direction", "scheme"}) {
    if (settings.contains(name)) problem[name] = settings.at(name);
  }
  problem.update(run.value("params", nothing));
  for (const char* const way : {"ranks", "time_tile", "barrier", "block"}) problem.erase(way);
  return problem;
}

Results read_results(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> runs;
  if (std::filesystem::exists(folder / "run.json")) {
    runs.push_back(folder);
  } else if (std::filesystem::is_directory(folder)) {
    for (std::filesystem::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
      const std::filesystem::path path = entry->path();
      if (std::filesystem::exists(path / "experiment.json")) entry.disable_recursion_pending();
      if (path.filename() == "run.json") runs.push_back(path.parent_path());
    }
  }
  std::sort(runs.begin(), runs.end());
  Results results;
  for (const std::filesystem::path& run : runs) {
    const nlohmann::json json = read_json_file(run / "run.json");
    JsonReader((run / "run.json").string(), json).require_schema("steelyard.run/1");
    Configuration& configuration = results[run == folder ? "" : configuration_name(run.lexically_relative(folder))];
    configuration.folders.push_back(run);
    configuration.runs.push_back(json);
    for (const double time_s : read_times(run / "samples.jsonl")) configuration.times_s.push_back(time_s);
  }
  return results;
}

}  // namespace steelyard::tool
