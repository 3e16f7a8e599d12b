#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/results.hpp"

namespace steelyard::tool {
namespace {

/// @throws InvalidArgument naming what differs where runs are of different apps or problems
void require_same_problem(const std::string& name, const nlohmann::json& base, const nlohmann::json& other) {
  const nlohmann::json a = problem_of(base), b = problem_of(other);
  nlohmann::json both = a;
  both.update(b);
  for (const auto& [key, value] : both.items()) {
    const nlohmann::json of_a = a.value(key, nlohmann::json()), of_b = b.value(key, nlohmann::json());
    if (of_a == of_b) continue;
    throw InvalidArgument(fmt::format("{}{} is {} in one and {} in the other (expected runs of the same problem)",
                                      name.empty() ? "" : name + ": ", key, of_a.dump(), of_b.dump()));
  }
}

/// Adds a row. Times are compared repetition by repetition of the same round where both have as many, since what ran in
/// turns ran on the same machine even where its speed drifts; otherwise those of all repetitions.
void add_comparison(Table& table, const std::string& name, const std::filesystem::path& folder,
                    const Configuration& base, const Configuration& other) {
  const std::vector<double> base_s = times_of(base), other_s = times_of(other);
  const double base_median_s = median(base_s), other_median_s = median(other_s);
  Ratio of_times;
  constexpr double level = 0.95;
  constexpr std::size_t enough_rounds = 6;
  if (base.size() >= enough_rounds && base.size() == other.size() && base_s.size() == other_s.size()) {
    std::vector<double> ratios;
    std::ranges::transform(other_s, base_s, std::back_inserter(ratios), std::divides<>());
    of_times = {median(ratios), median_interval(ratios, level)};
  } else {
    of_times = ratio(base_s, other_s, level);
  }
  const auto& [lower, upper] = of_times.interval;
  const bool is_known = std::isfinite(upper);
  // Noise alone would show a difference in one of twenty comparisons or fewer.
  const char* const verdict = !is_known     ? "too few repetitions (expected 4 of each)"
                              : lower > 1.0 ? "slower"
                              : upper < 1.0 ? "faster"
                                            : "no difference seen";
  table.add_row({name.empty() ? "-" : name, folder_name(folder), format_seconds(base_median_s),
                 format_seconds(other_median_s), fmt::format("{:.3f}", of_times.median),
                 is_known ? fmt::format("{:.3f}", lower) : "-", is_known ? fmt::format("{:.3f}", upper) : "-",
                 verdict});
}

/// `key` or `key.member`, with both values, where two runs differ in it.
void add_differences(std::map<std::string, std::set<std::string>>& found, const std::string& key,
                     const nlohmann::json& base, const nlohmann::json& other) {
  if (base == other || key == "environment.SLURM_JOB_ID") return;
  if (base.is_object() && other.is_object()) {
    nlohmann::json both = base;
    both.update(other);
    for (const auto& [name, value] : both.items()) {
      add_differences(found, key + "." + name, base.value(name, nlohmann::json()), other.value(name, nlohmann::json()));
    }
    return;
  }
  const auto text = [](const nlohmann::json& value) { return value.is_null() ? "nothing" : value.dump(); };
  found[key].insert(text(base) + " -> " + text(other));
}

/// A line for each fact about machine, build and options in which runs differ.
std::string differences(const Results& base, const Results& other) {
  std::map<std::string, std::set<std::string>> found;
  for (const auto& [name, configuration] : base) {
    const auto same = other.find(name);
    if (same == other.end()) continue;
    const nlohmann::json &a = configuration.front().json, &b = same->second.front().json;
    for (const char* const key : {"hosts", "processors", "commit", "dirty", "compiler", "flags", "kokkos", "mpi",
                                  "environment", "params", "settings", "seed"}) {
      add_differences(found, key, a.value(key, nlohmann::json()), b.value(key, nlohmann::json()));
    }
  }
  std::string lines;
  for (const auto& [key, values] : found) {
    const std::string more = values.size() > 1 ? fmt::format(" and {} more", values.size() - 1) : "";
    lines += fmt::format("differs    {}: {}{}\n", key, *values.begin(), more);
  }
  return lines;
}

/// A row for each run that other folders share with the first one, and what else differs.
std::string compare_folders(const std::vector<std::filesystem::path>& folders) {
  const auto read = [](const std::filesystem::path& folder) {
    Results results = read_results(folder);
    if (results.empty()) throw FileFormatError(folder.string(), "", "holds no run.json (expected a folder of results)");
    return results;
  };
  const Results base = read(folders.front());
  Table table({"run", "other", folder_name(folders.front()), "time", "ratio", "95 % from", "95 % to", ""});
  std::string notes;
  for (std::size_t i = 1; i < folders.size(); ++i) {
    const std::filesystem::path& folder = folders[i];
    const Results other = read(folder);
    std::size_t shared = 0;
    for (const auto& [name, configuration] : other) {
      const auto same = base.find(name);
      if (same == base.end()) continue;
      ++shared;
      require_same_problem(name, same->second.front().json, configuration.front().json);
      add_comparison(table, name, folder, same->second, configuration);
    }
    if (shared == 0) {
      throw InvalidArgument(fmt::format("{} and {} share no run (expected runs of the same name below both)",
                                        folders.front().string(), folder.string()));
    }
    notes += differences(base, other);
    const auto note_missing = [&](const std::filesystem::path& place, const Results& from, const Results& to) {
      for (const auto& [name, configuration] : from) {
        if (!to.contains(name)) notes += fmt::format("only in    {}: {}\n", place.string(), name);
      }
    };
    note_missing(folders.front(), base, other);
    note_missing(folder, other, base);
  }
  return table.text() +
         "ratio: median of the ratios of times to those of the first folder, below 1 where they are shorter; not the "
         "quotient of the medians beside it\n" +
         notes;
}

}  // namespace

void add_compare_command(CLI::App& parser, Action& chosen) {
  const auto [command, folders] = add_command<std::vector<std::filesystem::path>>(
      parser, "compare", "Compare times of runs: medians of paired runs, what is noise, and what differs between them",
      chosen, compare_folders);
  command->add_option("DIR", *folders, "Results (--result) or folders of results; the first is the base")
      ->expected(2, 64)
      ->required();
}

}  // namespace steelyard::tool
