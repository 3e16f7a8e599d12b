#include "miniapps/steelyard/results.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"

namespace steelyard::tool {
namespace {

/// Share of the work that each unit has, of the slices of all phases together.
std::vector<double> shares_of(const nlohmann::json& run) {
  std::vector<double> shares(run.at("units").size(), 0.0);
  for (const char* const phase : {"distribution", "column_distribution"}) {
    const auto slices = run.value(phase, std::vector<double>());
    const double total = std::accumulate(slices.begin(), slices.end(), 0.0);
    for (std::size_t i = 0; i < std::min(slices.size(), shares.size()) && total > 0.0; ++i) {
      shares[i] += slices[i] / total;
    }
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= all;
  return shares;
}

/// The most that slices of any size gain over those of `other`.
double ideal_gain(const RunResult& other, const RunResult& better) {
  double slowest_s = 0.0;
  std::vector<double> shares_per_s;
  for (const RunResult* run : {&other, &better}) {
    const std::vector<double> shares = shares_of(run->json);
    shares_per_s.resize(shares.size());
    for (std::size_t unit = 0; unit < shares.size(); ++unit) {
      const double seconds = number_of(run->json.at("units")[unit], "measured_s").value_or(0.0);
      if (run == &other) slowest_s = std::max(slowest_s, seconds);
      if (seconds > 0.0) shares_per_s[unit] = std::max(shares_per_s[unit], shares[unit] / seconds);
    }
  }
  return slowest_s * std::accumulate(shares_per_s.begin(), shares_per_s.end(), 0.0);
}

}  // namespace

std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw FileFormatError(path.string(), "", "cannot be opened");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false));
    if (!lines.back().is_object()) throw FileFormatError(path.string(), "", "holds a line that is no JSON object");
  }
  return lines;
}

std::optional<double> number_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string folder_name(const std::filesystem::path& folder) {
  return (folder / "").lexically_normal().parent_path().filename().string();
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
  std::ranges::sort(runs);
  Results results;
  for (const std::filesystem::path& run : runs) {
    const nlohmann::json json = read_json_file(run / "run.json");
    JsonReader((run / "run.json").string(), json).require_schema("steelyard.run/1");
    std::filesystem::path name = run == folder ? "" : run.lexically_relative(folder);
    std::string round = name.filename().string();
    if (round.find_first_not_of("0123456789") == std::string::npos) {
      name = name.parent_path();
    } else {
      round.clear();
    }
    RunResult& result = results[name.string()].emplace_back(RunResult{run, round, json, {}});
    const std::filesystem::path samples = run / "samples.jsonl";
    for (const nlohmann::json& sample : read_json_lines(samples)) {
      const JsonReader reader(samples.string(), sample);
      if (reader.text("metric") == "time_s") result.times_s.push_back(reader.number("value"));
    }
  }
  return results;
}

std::vector<double> times_of(const Configuration& configuration) {
  std::vector<double> times_s;
  for (const RunResult& run : configuration) times_s.insert(times_s.end(), run.times_s.begin(), run.times_s.end());
  return times_s;
}

std::optional<double> median_of(const Configuration& configuration, const char* key) {
  std::vector<double> values_s;
  for (const RunResult& run : configuration) {
    if (const auto value_s = number_of(run.json, key); value_s && *value_s > 0.0) values_s.push_back(*value_s);
  }
  return values_s.empty() ? std::nullopt : std::optional(median(values_s));
}

std::string check_of(const Configuration& configuration) {
  std::string check = "passed";
  for (const RunResult& run : configuration) {
    const nlohmann::json passed = run.json.value("/check/passed"_json_pointer, nlohmann::json());
    if (passed == false) return "FAILED";
    if (passed != true) check = "not done";
  }
  return check;
}

std::optional<Interval> predicted_interval_s(const nlohmann::json& run) {
  const nlohmann::json interval = run.value("predicted_interval_s", nlohmann::json());
  return interval.is_array() ? std::optional(Interval{interval.at(0), interval.at(1)}) : std::nullopt;
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

std::optional<Gain> gain(std::span<const RunResult> other, std::span<const RunResult> better, bool by_slices) {
  constexpr double least_ideal = 1.1;
  std::vector<double> factors, ideals, shares;
  Gain found;
  for (const RunResult& slow : other) {
    for (const RunResult& fast : better) {
      const double slow_s = number_of(slow.json, "median_time_s").value_or(0.0);
      const double fast_s = number_of(fast.json, "median_time_s").value_or(0.0);
      const bool same_slices = slow.json.at("distribution") == fast.json.at("distribution");
      if (slow.round != fast.round || (by_slices && same_slices) || slow_s <= 0.0 || fast_s <= 0.0) continue;
      factors.push_back(slow_s / fast_s);
      ideals.push_back(by_slices ? ideal_gain(slow, fast) : 0.0);
      if (ideals.back() >= least_ideal) shares.push_back((factors.back() - 1.0) / (ideals.back() - 1.0));
      if (slow.times_s.empty() || fast.times_s.empty()) continue;
      const Interval interval = ratio(fast.times_s, slow.times_s, 0.95).interval;
      if (std::isfinite(interval.upper)) found.range = interval;
    }
  }
  if (factors.empty()) return std::nullopt;
  found.factor = median(factors);
  if (factors.size() > 1) {
    const auto [least, most] = std::ranges::minmax_element(factors);
    found.range = {*least, *most};
  }
  if (median(ideals) >= least_ideal) {
    found.ideal = median(ideals);
    found.of_ideal = median(shares);
  }
  return found;
}

}  // namespace steelyard::tool
