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
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/steelyard/results.hpp"

namespace {

using namespace steelyard;

using nlohmann::json;
using tool::RunResult;

/// All rounds of one configuration.
using Rounds = tool::Configuration;

/// Shares of a possible speed among the figures of `run.json`, and their headings.
constexpr std::pair<const char*, const char*> shares[] = {{"share_of_bound", "of bound"},
                                                          {"share_of_units", "of units"}};
/// The first of which a run has all parameters is its problem's size.
const std::vector<std::vector<const char*>> extents{{"m", "n", "k"}, {"rows", "columns"}, {"n", "n"}};

struct Problem {
  double size = 0.0;  ///< product of the extents
  std::string text;
};

Problem problem_of(const RunResult& run) {
  const json& params = run.json.at("params");
  Problem problem;
  for (const std::vector<const char*>& names : extents) {
    if (!std::ranges::all_of(names, [&](const char* name) { return params.contains(name); })) continue;
    std::vector<double> lengths;
    for (const char* name : names) lengths.push_back(params.at(name).get<double>());
    problem.size = std::accumulate(lengths.begin(), lengths.end(), 1.0, std::multiplies());
    problem.text = fmt::format("{:g}", fmt::join(lengths, " x "));
    break;
  }
  if (const auto steps = tool::number_of(params, "steps")) problem.text += fmt::format(", {:g} steps", *steps);
  return problem;
}

/// A run's cell in a column, and the column's heading.
struct Shown {
  std::string heading;
  std::string cell = "-";
};

Shown speed_of(const RunResult& run) {
  const json merit = run.json.value("figure_of_merit", json());
  if (!merit.is_object()) return {"speed"};
  const double speed = merit.at("value");
  return {merit.at("name"), fmt::format("{:.{}f}", speed, speed < 9.95 ? 1 : 0)};
}

Shown share_of(const RunResult& run) {
  Shown shown{"of bound"};
  for (const auto& [figure, heading] : shares) {
    const std::optional<double> share = tool::number_of(run.json.at("figures"), figure);
    if (share) shown = {heading, fmt::format("{:.2f}", *share)};
  }
  return shown;
}

double time_s(const RunResult& run) { return run.json.at("median_time_s"); }

/// The run with the median time; of an even number the slower of the two in the middle.
const RunResult& median_run(Rounds& rounds) {
  std::ranges::sort(rounds, {}, time_s);
  return rounds[rounds.size() / 2];
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
std::vector<Configuration> configurations_of(const std::map<std::string, Rounds>& runs) {
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
using Results = std::map<double, std::map<std::string, Rounds>>;

/// All runs below `folder`, by app: the main job's <app>/<size>/<configuration>/<round>, a result of its own
/// (`--result`), or a folder of such, whose names are then the configurations'.
std::map<std::string, Results> results_by_app(const std::filesystem::path& folder) {
  std::map<std::string, Results> results;
  for (auto& [name, rounds] : tool::read_results(folder)) {
    for (const RunResult& run : rounds) {
      const auto place = std::filesystem::absolute(run.round.empty() ? run.folder : run.folder / "..");
      Rounds& same = results[run.json.at("app").get<std::string>()][problem_of(run).size][tool::folder_name(place)];
      same.push_back(run);
      same.back().times_s.clear();  // ranges are of several rounds alone
    }
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
    for (const auto& [folder, rounds] : by_configuration) {
      for (const RunResult& run : rounds) {
        const std::optional<Interval> interval = tool::predicted_interval_s(run.json);
        const std::optional<double> predicted_s = tool::number_of(run.json, "predicted_time_s");
        if (!interval || !predicted_s) continue;
        if (interval->lower <= time_s(run) && time_s(run) <= interval->upper) ++covered;
        half_widths.push_back(std::sqrt(interval->upper / interval->lower) - 1.0);
        std::vector<double> others_s;
        for (const RunResult& other : rounds) {
          if (&other != &run) others_s.push_back(time_s(other));
        }
        if (others_s.empty()) continue;
        from_prediction.push_back(percentage_difference(time_s(run), *predicted_s));
        from_others.push_back(percentage_difference(time_s(run), median(others_s)));
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
std::string name_of(const Configuration& configuration, const RunResult& run) {
  if (configuration.text.empty()) return configuration.folder;
  double slowdown = 1.0;
  for (const json& unit : run.json.at("units")) slowdown = std::max(slowdown, unit.at("slowdown").get<double>());
  return fmt::format(fmt::runtime(configuration.text), slowdown);
}

/// Prints an app's table; true when every run passed its verification.
bool print_table(const std::string& app, Results& results) {
  bool all_passed = true;
  const RunResult& any = results.begin()->second.begin()->second.front();
  Table table({"problem", "units and partition", any.json.at("computation_units").get<std::string>(), "time",
               speed_of(any).heading, share_of(any).heading, "predicted", "difference", "gain", "of ideal", "check"});
  std::vector<double> differences;
  for (auto& [size, by_configuration] : results) {
    for (const Configuration& configuration : configurations_of(by_configuration)) {
      Rounds& rounds = by_configuration.at(configuration.folder);
      const RunResult& run = median_run(rounds);
      std::string predicted = "-", difference = "-", gain = "-", of_ideal = "-";
      if (const std::optional<double> predicted_s = tool::median_of(rounds, "predicted_time_s")) {
        differences.push_back(percentage_difference(time_s(run), *predicted_s));
        predicted = format_seconds(*predicted_s);
        difference = fmt::format("{:.1f} %", differences.back());
      }
      if (const auto other = by_configuration.find(configuration.other); other != by_configuration.end()) {
        const auto gained = tool::gain(other->second, rounds, configuration.other.starts_with("even"));
        if (gained) gain = fmt::format("{:.2f}x", gained->factor);
        if (gained && gained->range)
          gain += fmt::format(" ({:.2f} to {:.2f})", gained->range->lower, gained->range->upper);
        if (gained && gained->of_ideal) of_ideal = fmt::format("{:.2f}", *gained->of_ideal);
      }
      const std::string check = tool::check_of(rounds);
      all_passed = all_passed && check != "FAILED";
      const auto units = run.json.at("distribution").get<std::vector<std::int64_t>>();
      table.add_row({problem_of(run).text, name_of(configuration, run), fmt::format("{}", fmt::join(units, "+")),
                     format_seconds(time_s(run)), speed_of(run).cell, share_of(run).cell, predicted, difference, gain,
                     of_ideal, check});
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
    for (auto& [app, results] : results_by_app(folder)) all_passed = print_table(app, results) && all_passed;
    return all_passed ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "steelyard-main-table: {}\n", error.what());
    return 2;
  }
}
