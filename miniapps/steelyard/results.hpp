#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/document.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::tool {

/// The lines of a file, each an object. @throws FileFormatError
std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path);

/// The number under a key, if there is one.
std::optional<double> number_of(const nlohmann::json& object, const char* key);

/// Result folder of a run.
struct RunResult {
  std::filesystem::path folder;
  std::string round;            ///< the number at the end of the folder's path; empty where there is none
  nlohmann::json json;          ///< of `run.json`
  std::vector<double> times_s;  ///< of each repetition
};

/// All runs of one configuration in a folder of results: one, or several rounds of it.
using Configuration = std::vector<RunResult>;

/// By name: the path below the folder, without the number of the round.
using Results = std::map<std::string, Configuration>;

/// The last word of a path, also where it ends with a slash.
std::string folder_name(const std::filesystem::path& folder);

/// Reads a result (`--result`), whose name is then empty, or all below a folder; those of experiments, in whose folder
/// an `experiment.json` lies, count as theirs and are left out. @throws FileFormatError for a file that is no result's
Results read_results(const std::filesystem::path& folder);

/// Seconds of all repetitions of all rounds.
std::vector<double> times_of(const Configuration& configuration);

/// Median over all rounds of the seconds under a key, which each may have.
std::optional<double> median_of(const Configuration& configuration, const char* key);

/// `passed`, `FAILED` where any round's check did, or `not done` where any round had none.
std::string check_of(const Configuration& configuration);

/// The interval that a run's time was predicted to be in, if there is one.
std::optional<Interval> predicted_interval_s(const nlohmann::json& run);

/// Name of the problem that a run computes: its app, element type and parameters but for those that say how it does.
nlohmann::json problem_of(const nlohmann::json& run);

/// Gain of one way to run a problem over another.
struct Gain {
  double factor = 1.0;  ///< how many times as fast it is: median over the rounds of the ratio of median times
  /// Range of the factor: the least and the greatest of several rounds; with one round, the 95 % interval of its
  /// repetitions' ratios where there are enough for one.
  std::optional<Interval> range = {};
  /// The most that slices of any size could gain; nothing where that is less than a tenth, or units were not timed.
  std::optional<double> ideal = {};
  /// Share of the ideal gain that was gained, (factor - 1) / (ideal - 1); below 0 for a loss. Of several rounds the
  /// median, as the ideal.
  std::optional<double> of_ideal = {};
};

/// Gain of rounds over the same rounds of another configuration. With `by_slices` the gain is that of sizing slices:
/// rounds with the same slices in both are left out, and a round's ideal is
///   max_i t_i sum_i v_i, with t_i the seconds of unit i in `other` and v_i the share of the work that it does in a
/// second, in `other` or in `better`, where it was faster: a unit that was slowed down by chance in one of the two does
/// not make a gain larger than its ideal.
/// @return nothing where no round is left
std::optional<Gain> gain(std::span<const RunResult> other, std::span<const RunResult> better, bool by_slices);

/// Adds what is to be seen of a folder's runs to a page: the message, then each app. @return whether the folder has any
/// @throws FileFormatError for a result that cannot be read
bool add_runs(Document& document, const std::filesystem::path& folder);

}  // namespace steelyard::tool
