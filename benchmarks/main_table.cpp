// The main job's table: one row per configuration, from the result folders of its runs. A configuration that was run in
// several rounds, interleaved with the others, counts with its median run; a gain is the median of the rounds' ratios,
// for what ran one after the other ran on the same machine even where its speed drifts.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/accuracy.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"

namespace {

using namespace steelyard;

/// What the table shows of one run.
struct Run {
  std::string round;
  std::string grid;
  double points = 0.0;
  double time_s = 0.0;
  double predicted_s = 0.0;
  double points_per_s = 0.0;
  double share_of_bound = 0.0;
  std::string distribution;
  bool passed = false;
};

Run read_run(const std::filesystem::path& file) {
  const nlohmann::json json = read_json_file(file);
  const JsonReader reader(file.string(), json);
  reader.require_schema("steelyard.run/1");
  const JsonReader params = reader.object("params");
  const JsonReader figures = reader.object("figures");
  Run run;
  run.points = params.number("rows") * params.number("columns");
  run.grid = fmt::format("{:g} x {:g}", params.number("rows"), params.number("columns"));
  run.time_s = reader.number("median_time_s");
  run.predicted_s = reader.number("predicted_time_s");
  run.points_per_s = figures.number("points_per_s");
  run.share_of_bound = figures.number("share_of_bound");
  for (const nlohmann::json& rows : json.at("distribution")) {
    run.distribution += fmt::format("{}{}", run.distribution.empty() ? "" : "+", rows.get<std::int64_t>());
  }
  const nlohmann::json& passed = json.at("check").at("passed");
  run.passed = passed.is_boolean() && passed.get<bool>();
  return run;
}

/// The run with the median time; of an even number the slower of the two in the middle.
const Run& median_run(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.time_s < b.time_s; });
  return runs[runs.size() / 2];
}

/// Median over the rounds that both have of how much longer `even` took. @throws InvalidArgument without such a round
double paired_gain(const std::vector<Run>& even, const std::vector<Run>& balanced) {
  std::vector<double> ratios;
  for (const Run& slow : even) {
    for (const Run& fast : balanced) {
      if (slow.round == fast.round) ratios.push_back(slow.time_s / fast.time_s);
    }
  }
  return median(ratios);
}

/// Ideal gain of balancing over an even split between a unit and one F times slower: an even split takes as long as the
/// slow unit for half of the rows, F / 2; a balanced one F / (F + 1), both in units of the fast one's time for all
/// rows.
double ideal_gain(double slowdown) { return (slowdown + 1.0) / 2.0; }

struct Configuration {
  const char* folder;  ///< of its results
  const char* text;
  const char* even = nullptr;  ///< folder of the configuration that it is to be better than
  double slowdown = 1.0;
};

constexpr Configuration configurations[] = {
    {"host", "host only"},
    {"even", "host+device, even"},
    {"geometric", "host+device, geometric", "even", 1.0},
    {"even-slow-device", "host+device/3, even"},
    {"geometric-slow-device", "host+device/3, geometric", "even-slow-device", 3.0},
    {"even-slow-rank", "2 ranks, one /3, even"},
    {"geometric-slow-rank", "2 ranks, one /3, geometric", "even-slow-rank", 3.0},
};

/// All runs below `folder`/<size>/<configuration>/<round>, by size and configuration.
std::map<double, std::map<std::string, std::vector<Run>>> read_results(const std::filesystem::path& folder) {
  std::map<double, std::map<std::string, std::vector<Run>>> results;
  if (!std::filesystem::is_directory(folder)) throw InvalidArgument(folder.string() + " is not a folder of results");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "run.json") continue;
    Run run = read_run(entry.path());
    run.round = entry.path().parent_path().filename().string();
    results[run.points][entry.path().parent_path().parent_path().filename().string()].push_back(run);
  }
  if (results.empty()) throw InvalidArgument(folder.string() + " holds no run.json");
  return results;
}

/// Prints the table; true when every run passed its verification.
bool print_table(const std::filesystem::path& folder) {
  auto results = read_results(folder);
  bool all_passed = true;
  Table table({"grid", "units and partition", "rows", "time", "Mpoint/s", "of bound", "predicted", "difference",
               "gain over even", "of ideal", "check"});
  for (auto& [points, by_configuration] : results) {
    for (const Configuration& configuration : configurations) {
      const auto found = by_configuration.find(configuration.folder);
      if (found == by_configuration.end()) continue;
      const Run& run = median_run(found->second);
      std::string gain = "-";
      std::string of_ideal = "-";
      const auto even =
          configuration.even != nullptr ? by_configuration.find(configuration.even) : by_configuration.end();
      if (even != by_configuration.end()) {
        const double factor = paired_gain(even->second, found->second);
        gain = fmt::format("{:.2f}x", factor);
        if (configuration.slowdown > 1.0) {
          of_ideal = fmt::format("{:.2f}", (factor - 1.0) / (ideal_gain(configuration.slowdown) - 1.0));
        }
      }
      const bool passed =
          std::all_of(found->second.begin(), found->second.end(), [](const Run& r) { return r.passed; });
      all_passed = all_passed && passed;
      table.add_row({run.grid, configuration.text, run.distribution, format_seconds(run.time_s),
                     fmt::format("{:.0f}", run.points_per_s / 1e6), fmt::format("{:.2f}", run.share_of_bound),
                     format_seconds(run.predicted_s),
                     fmt::format("{:.1f} %", percentage_difference(run.time_s, run.predicted_s)), gain, of_ideal,
                     passed ? "passed" : "FAILED"});
    }
  }
  fmt::print("{}", table.text());
  return all_passed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Prints the table of the main job from its result folders", "steelyard-main-table");
  std::string folder;
  parser.add_option("DIR", folder, "Folder of the main job's results")->required();
  CLI11_PARSE(parser, argc, argv);
  try {
    return print_table(folder) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "steelyard-main-table: {}\n", error.what());
    return 2;
  }
}
