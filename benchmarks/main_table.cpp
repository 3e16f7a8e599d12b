// The main job's tables, one an app: one row per configuration, from the result folders of its runs. A configuration
// that was run in several rounds, interleaved with the others, counts with its median run; a gain is the median of the
// rounds' ratios, for what ran one after the other ran on the same machine even where its speed drifts.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/steelyard/results.hpp"

namespace {

using namespace steelyard;

/// A run's cell in a column, and the column's heading.
struct Shown {
  std::string heading;
  std::string cell = "-";
};
/// Shares of a possible speed among the figures of `run.json`, and their headings.
constexpr std::pair<const char*, const char*> shares[] = {{"share_of_bound", "of bound"},
                                                          {"share_of_units", "of units"}};
/// The first of which a run has all parameters is its problem's size.
const std::vector<std::vector<const char*>> extents{{"m", "n", "k"}, {"rows", "columns"}, {"n", "n"}};

/// Figures of one run in the table.
struct Run {
  tool::RunResult result;
  std::string problem;
  double size = 0.0;  ///< product of the extents
  double time_s = 0.0;
  Shown speed{"speed"};
  Shown share{"of bound"};
  std::optional<double> predicted_s;
  std::optional<Interval> interval_s;  ///< of the prediction
  std::optional<bool> passed;          ///< nothing where it was not checked
};

Run read_run(const std::filesystem::path& file, const nlohmann::json& json) {
  const JsonReader reader(file.string(), json);
  const JsonReader params = reader.object("params");
  const auto has = [&](const char* name) { return json.at("params").contains(name); };
  Run run;
  for (const std::vector<const char*>& names : extents) {
    if (!std::ranges::all_of(names, has)) continue;
    std::vector<double> lengths;
    for (const char* name : names) lengths.push_back(params.number(name));
    run.size = std::accumulate(lengths.begin(), lengths.end(), 1.0, std::multiplies());
    run.problem = fmt::format("{:g}", fmt::join(lengths, " x "));
    break;
  }
  if (has("steps")) run.problem += fmt::format(", {:g} steps", params.number("steps"));
  run.time_s = reader.number("median_time_s");
  if (const nlohmann::json merit = json.value("figure_of_merit", nlohmann::json()); merit.is_object()) {
    const double speed = merit.at("value");
    run.speed = {merit.at("name"), fmt::format("{:.{}f}", speed, speed < 9.95 ? 1 : 0)};
  }
  for (const auto& [figure, heading] : shares) {
    const std::optional<double> share = tool::number_of(json.at("figures"), figure);
    if (share) run.share = {heading, fmt::format("{:.2f}", *share)};
  }
  if (!json.at("predicted_time_s").is_null()) run.predicted_s = reader.number("predicted_time_s");
  if (const nlohmann::json interval = json.value("predicted_interval_s", nlohmann::json()); interval.is_array()) {
    run.interval_s = {interval.at(0).get<double>(), interval.at(1).get<double>()};
  }
  const nlohmann::json& passed = json.at("check").at("passed");
  if (passed.is_boolean()) run.passed = passed.get<bool>();
  return run;
}

/// The run with the median time; of an even number the slower of the two in the middle.
const Run& median_run(std::vector<Run>& runs) {
  std::ranges::sort(runs, {}, &Run::time_s);
  return runs[runs.size() / 2];
}

/// Median of the predictions of all rounds; nothing where none is predicted.
std::optional<double> median_prediction_s(const std::vector<Run>& runs) {
  std::vector<double> predictions_s;
  for (const Run& run : runs) {
    if (run.predicted_s) predictions_s.push_back(*run.predicted_s);
  }
  return predictions_s.empty() ? std::nullopt : std::optional(median(predictions_s));
}

/// Result of the checks of all rounds.
std::string check_text(const std::vector<Run>& runs) {
  const auto any = [&](std::optional<bool> found) {
    return std::ranges::find(runs, found, &Run::passed) != runs.end();
  };
  return any(false) ? "FAILED" : any(std::nullopt) ? "not done" : "passed";
}

/// Gain of `better` over `other`. @param by_slices `other` has even slices, so that an ideal can be told
std::optional<tool::Gain> gain_of(const std::vector<Run>& other, const std::vector<Run>& better, bool by_slices) {
  tool::Configuration of_other, of_better;
  for (const Run& run : other) of_other.push_back(run.result);
  for (const Run& run : better) of_better.push_back(run.result);
  return tool::gain(of_other, of_better, by_slices);
}

struct Configuration {
  std::string folder;      ///< of its results
  std::string text;        ///< with a place for how many times slower its slow unit is; empty for the folder's name
  std::string other = {};  ///< folder of the configuration that it is to be better than; empty for none
};

const std::vector<Configuration> known_configurations = {
    {"host", "host only"},
    {"device", "device only"},
    {"shared", "host+device, geometric", "device"},
    {"even", "host+device, even"},
    {"geometric", "host+device, geometric", "even"},
    {"exact", "host+device, exact", "even"},
    {"out-of-core", "host+device, out of core"},
    {"even-slow-device", "host+device/{:g}, even"},
    {"geometric-slow-device", "host+device/{:g}, geometric", "even-slow-device"},
    {"exact-slow-device", "host+device/{:g}, exact", "even-slow-device"},
    {"paper", "2 ranks, paper's messages"},
    {"bcast", "2 ranks, MPI_Bcast", "paper"},
    {"pipelined", "2 ranks, pipelined", "paper"},
    {"even-slow-rank", "2 ranks, one /{:g}, even"},
    {"geometric-slow-rank", "2 ranks, one /{:g}, geometric", "even-slow-rank"},
    {"column-slow-rank", "2 ranks, one /{:g}, column", "even-slow-rank"},
};

/// Configurations with results: those of the main job in its order, then any others, under their folders' names.
std::vector<Configuration> configurations_of(const std::map<std::string, std::vector<Run>>& runs) {
  std::vector<Configuration> configurations = known_configurations;
  std::erase_if(configurations, [&](const Configuration& one) { return !runs.contains(one.folder); });
  for (const auto& [folder, of_folder] : runs) {
    if (std::ranges::find(known_configurations, folder, &Configuration::folder) == known_configurations.end()) {
      configurations.push_back({folder, ""});
    }
  }
  return configurations;
}

/// By configuration, and that by size.
using Results = std::map<double, std::map<std::string, std::vector<Run>>>;

/// All runs below `folder`, by app: the main job's <app>/<size>/<configuration>/<round>, a result of its own
/// (`--result`), or a folder of such, whose names are then the configurations'.
std::map<std::string, Results> read_results(const std::filesystem::path& folder) {
  std::map<std::string, Results> results;
  if (!std::filesystem::is_directory(folder)) throw InvalidArgument(folder.string() + " is not a folder of results");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "run.json") continue;
    const nlohmann::json json = read_json_file(entry.path());
    const JsonReader reader(entry.path().string(), json);
    reader.require_schema("steelyard.run/1");
    const std::string name = reader.text("app");
    Run run = read_run(entry.path(), json);
    const std::filesystem::path place = std::filesystem::absolute(entry.path()).lexically_normal().parent_path();
    const std::string last = place.filename().string();
    const bool is_round = std::all_of(last.begin(), last.end(), [](char c) { return '0' <= c && c <= '9'; });
    run.result = {place, is_round ? last : "", json, {}};
    results[name][run.size][is_round ? place.parent_path().filename().string() : last].push_back(run);
  }
  if (results.empty()) throw InvalidArgument(folder.string() + " holds no run.json");
  return results;
}

/// The least of the values that nine of ten do not exceed. Takes at least one.
double nine_of_ten(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(9 * values.size() - 1) / 10];
}

/// How many runs ended within the intervals of their own predictions, and how wide these are: (1 + h) for the half
/// width h as a share of the predicted time is the root of upper over lower end. Then how far runs are from their
/// predictions, beside how far they are from the median of the other rounds, which is what the machine's noise leaves
/// to any prediction. Empty where no run has an interval.
std::string coverage(const Results& results) {
  int covered = 0;
  std::vector<double> half_widths, from_prediction, from_others;
  for (const auto& [size, by_configuration] : results) {
    for (const auto& [folder, runs] : by_configuration) {
      for (const Run& run : runs) {
        if (!run.interval_s || !run.predicted_s) continue;
        if (run.interval_s->lower <= run.time_s && run.time_s <= run.interval_s->upper) ++covered;
        half_widths.push_back(std::sqrt(run.interval_s->upper / run.interval_s->lower) - 1.0);
        std::vector<double> others_s;
        for (const Run& other : runs) {
          if (&other != &run) others_s.push_back(other.time_s);
        }
        if (others_s.empty()) continue;
        from_prediction.push_back(percentage_difference(run.time_s, *run.predicted_s));
        from_others.push_back(percentage_difference(run.time_s, median(others_s)));
      }
    }
  }
  if (half_widths.empty()) return "";
  std::string text = fmt::format("; {} of {} runs within their 90 % intervals, median half width {:.1f} %", covered,
                                 half_widths.size(), 100.0 * median(half_widths));
  if (from_others.empty()) return text;
  return text +
         fmt::format(
             "\nof runs, half are within {:.1f} % of their predictions and {:.1f} % of the median of their other "
             "rounds; nine of ten within {:.1f} % and {:.1f} %",
             median(from_prediction), median(from_others), nine_of_ten(from_prediction), nine_of_ten(from_others));
}

/// Name of a configuration for the table, with the largest slowdown of the run's units.
std::string name_of(const Configuration& configuration, const Run& run) {
  if (configuration.text.empty()) return configuration.folder;
  double slowdown = 1.0;
  for (const nlohmann::json& unit : run.result.json.at("units")) {
    slowdown = std::max(slowdown, unit.at("slowdown").get<double>());
  }
  return fmt::format(fmt::runtime(configuration.text), slowdown);
}

/// Prints an app's table; true when every run passed its verification.
bool print_table(const std::string& app, Results& results) {
  bool all_passed = true;
  const Run& any = results.begin()->second.begin()->second.front();
  Table table({"problem", "units and partition", any.result.json.at("computation_units").get<std::string>(), "time",
               any.speed.heading, any.share.heading, "predicted", "difference", "gain", "of ideal", "check"});
  std::vector<double> differences;
  for (auto& [size, by_configuration] : results) {
    for (const Configuration& configuration : configurations_of(by_configuration)) {
      std::vector<Run>& runs = by_configuration.at(configuration.folder);
      const Run& run = median_run(runs);
      std::string predicted = "-", difference = "-", gain = "-", of_ideal = "-";
      if (const std::optional<double> predicted_s = median_prediction_s(runs)) {
        differences.push_back(percentage_difference(run.time_s, *predicted_s));
        predicted = format_seconds(*predicted_s);
        difference = fmt::format("{:.1f} %", differences.back());
      }
      if (const auto other = by_configuration.find(configuration.other); other != by_configuration.end()) {
        const auto gained = gain_of(other->second, runs, configuration.other.starts_with("even"));
        if (gained) gain = fmt::format("{:.2f}x", gained->factor);
        if (gained && gained->range)
          gain += fmt::format(" ({:.2f} to {:.2f})", gained->range->lower, gained->range->upper);
        if (gained && gained->of_ideal) of_ideal = fmt::format("{:.2f}", *gained->of_ideal);
      }
      const std::string check = check_text(runs);
      all_passed = all_passed && check != "FAILED";
      const auto units = run.result.json.at("distribution").get<std::vector<std::int64_t>>();
      table.add_row({run.problem, name_of(configuration, run), fmt::format("{}", fmt::join(units, "+")),
                     format_seconds(run.time_s), run.speed.cell, run.share.cell, predicted, difference, gain, of_ideal,
                     check});
    }
  }
  fmt::print("{}\n{}", app, table.text());
  if (!differences.empty()) {
    fmt::print("difference of predictions: mean {:.1f} %, median {:.1f} %{}\n", mean(differences), median(differences),
               coverage(results));
  }
  fmt::print("\n");
  return all_passed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Prints the tables of the main job from its result folders", "steelyard-main-table");
  std::string folder;
  parser.add_option("DIR", folder, "Folder of the main job's results")->required();
  CLI11_PARSE(parser, argc, argv);
  try {
    bool all_passed = true;
    for (auto& [app, results] : read_results(folder)) all_passed = print_table(app, results) && all_passed;
    return all_passed ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "steelyard-main-table: {}\n", error.what());
    return 2;
  }
}
