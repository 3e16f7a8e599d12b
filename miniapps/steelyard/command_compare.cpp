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

struct CompareOptions {
  std::vector<std::filesystem::path> folders;
};

struct Comparison {
  std::string name;
  std::filesystem::path other;
  double base_s = 0.0;
  double other_s = 0.0;
  Ratio ratio;
};

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

/// Times of both, repetition by repetition of the same round where both have as many, since what ran in turns ran on
/// the same machine even where its speed drifts; otherwise of all repetitions.
Comparison compare(const std::string& name, const std::filesystem::path& folder, const Configuration& base,
                   const Configuration& other) {
  const std::vector<double> base_s = times_of(base), other_s = times_of(other);
  Comparison comparison{name, folder, median(base_s), median(other_s), {}};
  constexpr double level = 0.95;
  constexpr std::size_t enough_rounds = 6;
  if (base.size() >= enough_rounds && base.size() == other.size() && base_s.size() == other_s.size()) {
    std::vector<double> ratios;
    std::ranges::transform(other_s, base_s, std::back_inserter(ratios), std::divides<>());
    comparison.ratio = {median(ratios), median_interval(ratios, level)};
  } else {
    comparison.ratio = ratio(base_s, other_s, level);
  }
  return comparison;
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

std::string comparison_table(const std::vector<Comparison>& comparisons, const std::filesystem::path& base) {
  Table table({"run", "other", folder_name(base), "time", "ratio", "95 % from", "95 % to", ""});
  for (const Comparison& one : comparisons) {
    const auto& [lower, upper] = one.ratio.interval;
    const bool is_known = std::isfinite(upper);
    // Noise alone would show a difference in one of twenty comparisons or fewer.
    const char* const verdict = !is_known     ? "too few repetitions (expected 4 of each)"
                                : lower > 1.0 ? "slower"
                                : upper < 1.0 ? "faster"
                                              : "no difference seen";
    table.add_row({one.name.empty() ? "-" : one.name, folder_name(one.other), format_seconds(one.base_s),
                   format_seconds(one.other_s), fmt::format("{:.3f}", one.ratio.median),
                   is_known ? fmt::format("{:.3f}", lower) : "-", is_known ? fmt::format("{:.3f}", upper) : "-",
                   verdict});
  }
  return table.text() +
         "ratio: median of the ratios of times to those of the first folder, below 1 where they are shorter; not the "
         "quotient of the medians beside it\n";
}

std::string compare_folders(const CompareOptions& options) {
  const auto read = [](const std::filesystem::path& folder) {
    Results results = read_results(folder);
    if (results.empty()) throw FileFormatError(folder.string(), "", "holds no run.json (expected a folder of results)");
    return results;
  };
  const Results base = read(options.folders.front());
  std::vector<Comparison> comparisons;
  std::string notes;
  for (std::size_t i = 1; i < options.folders.size(); ++i) {
    const std::filesystem::path& folder = options.folders[i];
    const Results other = read(folder);
    std::size_t shared = 0;
    for (const auto& [name, configuration] : other) {
      const auto same = base.find(name);
      if (same == base.end()) continue;
      ++shared;
      require_same_problem(name, same->second.front().json, configuration.front().json);
      comparisons.push_back(compare(name, folder, same->second, configuration));
    }
    if (shared == 0) {
      throw InvalidArgument(fmt::format("{} and {} share no run (expected runs of the same name below both)",
                                        options.folders.front().string(), folder.string()));
    }
    notes += differences(base, other);
    const auto note_missing = [&](const std::filesystem::path& place, const Results& from, const Results& to) {
      for (const auto& [name, configuration] : from) {
        if (!to.contains(name)) notes += fmt::format("only in    {}: {}\n", place.string(), name);
      }
    };
    note_missing(options.folders.front(), base, other);
    note_missing(folder, other, base);
  }
  return comparison_table(comparisons, options.folders.front()) + notes;
}

}  // namespace

void add_compare_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<CompareOptions>(
      parser, "compare", "Compare times of runs: medians of paired runs, what is noise, and what differs between them",
      chosen, compare_folders);
  command->add_option("DIR", options->folders, "Results (--result) or folders of results; the first is the base")
      ->expected(2, 64)
      ->required();
}

}  // namespace steelyard::tool
