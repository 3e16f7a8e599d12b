
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "core/base/document.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/steelyard/command.hpp"
#include "miniapps/steelyard/report_experiment.hpp"
#include "miniapps/steelyard/results.hpp"
#include "models/fpm_file.hpp"

namespace steelyard::tool {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// The parts of an array or object, separated by commas.
std::string list_of(const nlohmann::json& values) {
  std::string list;
  for (const auto& [name, value] : values.items()) {
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", values.is_object() ? name + " = " : "", text_of(value));
  }
  return list;
}

std::optional<double> number_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// Median over all rounds of a number that each may have.
std::optional<double> median_of(const Configuration& configuration, const char* key) {
  std::vector<double> values;
  for (const nlohmann::json& run : configuration.runs) {
    if (const auto value = number_of(run, key)) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(median(values));
}

std::string seconds(std::optional<double> time_s) { return time_s ? format_seconds(*time_s) : "-"; }

std::optional<Interval> interval_of(const Configuration& configuration) {
  const nlohmann::json interval = configuration.runs.front().value("predicted_interval_s", nlohmann::json());
  return interval.is_array() ? std::optional(Interval{interval.at(0), interval.at(1)}) : std::nullopt;
}

std::vector<std::string> accuracy_cells(std::optional<double> measured_s, std::optional<double> predicted_s) {
  if (!measured_s || !predicted_s || *measured_s <= 0.0 || *predicted_s <= 0.0) return {"-", "-"};
  return {fmt::format("{:.1f} %", percentage_difference(*predicted_s, *measured_s)),
          fmt::format("{:.2f}", proportional_error(*measured_s, *predicted_s))};
}

/// Units of a run, such as `host + device/4` for a device that is emulated to be four times slower.
std::string unit_names(const nlohmann::json& run) {
  std::string names;
  for (const nlohmann::json& unit : run.value("units", nlohmann::json::array())) {
    const double slowdown = unit.value("slowdown", 1.0);
    names += fmt::format("{}{}{}", names.empty() ? "" : " + ", unit.value("kind", "unit"),
                         slowdown > 1.0 ? fmt::format("/{:g}", slowdown) : "");
  }
  return names;
}

std::string distribution(const nlohmann::json& run) {
  std::string text;
  for (const nlohmann::json& units : run.value("distribution", nlohmann::json::array())) {
    text += (text.empty() ? "" : " + ") + units.dump();
  }
  return text.empty() ? "-" : text;
}

/// Adds what balanced slices gain over even ones of the same problem and units, and how far predictions were off.
void add_gains(Document& document, const Results& results) {
  std::map<std::string, std::vector<std::pair<std::string, const Configuration*>>> alike;
  std::vector<double> mus;
  for (const auto& [name, configuration] : results) {
    const nlohmann::json& run = configuration.runs.front();
    alike[problem_of(run).dump() + unit_names(run)].emplace_back(name, &configuration);
    const auto measured_s = median_of(configuration, "median_time_s"),
               predicted_s = median_of(configuration, "predicted_time_s");
    if (measured_s && predicted_s && *measured_s > 0.0 && *predicted_s > 0.0) {
      mus.push_back(proportional_error(*measured_s, *predicted_s));
    }
  }
  const auto partition_of = [](const Configuration& one) {
    return one.runs.front().value("/settings/partition"_json_pointer, "");
  };
  Rows rows;
  double most = 0.0;
  std::string most_of;
  for (const auto& [key, runs] : alike) {
    const auto even =
        std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return partition_of(*run.second) == "even"; });
    if (even == runs.end()) continue;
    for (const auto& [name, configuration] : runs) {
      const bool same_slices = distribution(configuration->runs.front()) == distribution(even->second->runs.front());
      if (configuration == even->second || same_slices) continue;
      const Ratio gain = ratio(configuration->times_s, even->second->times_s, 0.95);
      const bool known = std::isfinite(gain.interval.upper);
      rows.push_back({name, fmt::format("{:.2f}x", gain.median),
                      known ? fmt::format("{:.2f}x to {:.2f}x", gain.interval.lower, gain.interval.upper) : "-",
                      seconds(median(even->second->times_s)), seconds(median(configuration->times_s))});
      if (gain.median <= most) continue;
      most = gain.median;
      most_of = name;
    }
  }
  std::string text;
  if (!rows.empty()) {
    text =
        fmt::format("Slices sized by speed models ran up to {:.2f} times as fast as even ones ({}). ", most, most_of);
  }
  if (!mus.empty()) {
    text += fmt::format("Half of {} predictions were off by a factor of {:.2f} or less, the worst by {:.2f}.",
                        mus.size(), median(mus), *std::max_element(mus.begin(), mus.end()));
  }
  if (!text.empty()) document.add_text(text);
  if (!rows.empty()) document.add_table({"run", "gain", "95 % interval", "even slices", "its own"}, rows);
}

void add_machine(Document& document, const nlohmann::json& run) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, key] : {std::pair{"date", "date"},
                                  {"hosts", "hosts"},
                                  {"processors", "processors"},
                                  {"BLAS", "blas"},
                                  {"commit", "commit"},
                                  {"compiler", "compiler"},
                                  {"flags", "flags"},
                                  {"Kokkos", "kokkos"},
                                  {"MPI", "mpi"},
                                  {"environment", "environment"}}) {
    const nlohmann::json value = run.value(key, nlohmann::json());
    const std::string text = value.is_structured() ? list_of(value) : value.is_null() ? "" : text_of(value);
    if (!text.empty()) facts.emplace_back(name, text);
  }
  document.add_facts(facts);
}

/// Speeds of all units of the first run that keeps models.
void add_speeds(Document& document, const std::string& app, const std::vector<const Configuration*>& configurations) {
  for (const Configuration* configuration : configurations) {
    const std::filesystem::path models = configuration->folders.front() / "models";
    if (!std::filesystem::is_directory(models)) continue;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(models)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    SvgPlot chart;
    chart.title = fmt::format("{}: measured speed of each unit", app);
    for (const std::filesystem::path& path : files) {
      const models::FpmFile file = models::read_fpm_file(path);
      SvgPlot::Series series{path.stem().stem().string(), {}, {}, {}, false, chart.series.size()};
      for (const models::MeasuredPoint& point : file.points) {
        series.x.push_back(point.units);
        series.y.push_back(point.speed());
        series.error.push_back(point.speed() * point.confidence_s / point.time_s);
      }
      chart.x_label = file.computation_unit.empty() ? "computation units"
                                                    : fmt::format("computation units (each {})", file.computation_unit);
      chart.corner = file.machine + (file.machine.empty() || file.date.empty() ? "" : ", ") + file.date;
      chart.series.push_back(series);
    }
    if (chart.series.empty()) continue;
    chart.y_label = "computation units per second";
    chart.x_scale = SvgPlot::Scale::logarithmic;
    document.add_chart(chart);
    return;
  }
}

void add_phases(Document& document, const std::map<std::string, const Configuration*>& configurations) {
  Rows rows;
  for (const auto& [name, configuration] : configurations) {
    for (const nlohmann::json& phase : configuration->runs.front().value("phases", nlohmann::json::array())) {
      const auto measured_s = number_of(phase, "measured_s"), predicted_s = number_of(phase, "predicted_s");
      std::vector<std::string> row{name, phase.value("name", ""), seconds(measured_s), seconds(predicted_s)};
      for (const std::string& cell : accuracy_cells(measured_s, predicted_s)) row.push_back(cell);
      rows.push_back(row);
    }
  }
  if (rows.empty()) return;
  Document phases("Phases");
  phases.add_table({"run", "phase", "measured", "predicted", "difference", "mu"}, rows);
  document.add_folded(phases);
}

/// Runs of one app. @return measured and predicted seconds of each
SvgPlot::Series add_app(Document& document, const std::string& app,
                        const std::map<std::string, const Configuration*>& configurations) {
  SvgPlot::Series predictions{app, {}, {}, {}};
  Rows rows;
  std::vector<const Configuration*> all;
  for (const auto& [name, configuration] : configurations) {
    all.push_back(configuration);
    const nlohmann::json& run = configuration->runs.front();
    const auto measured_s = median_of(*configuration, "median_time_s");
    const auto predicted_s = median_of(*configuration, "predicted_time_s");
    const auto all_checks = [&, configuration = configuration](const nlohmann::json::json_pointer& what) {
      return std::all_of(configuration->runs.begin(), configuration->runs.end(),
                         [&](const auto& one) { return one.value(what, nlohmann::json()) == true; });
    };
    const bool checked = all_checks("/check/performed"_json_pointer), passed = all_checks("/check/passed"_json_pointer);
    const auto spread = configuration->times_s.size() > 1
                            ? fmt::format("{:.1f} %", 100.0 * coefficient_of_variation(configuration->times_s))
                            : "-";
    std::vector<std::string> row{name.empty() ? "-" : name,
                                 unit_names(run),
                                 run.value("/settings/partition"_json_pointer, "-"),
                                 distribution(run),
                                 seconds(measured_s),
                                 spread,
                                 seconds(predicted_s) + interval_text(interval_of(*configuration))};
    for (const std::string& cell : accuracy_cells(measured_s, predicted_s)) row.push_back(cell);
    row.push_back(!checked ? "-" : passed ? "passed" : "FAILED");
    rows.push_back(row);
    if (measured_s && predicted_s && *measured_s > 0.0 && *predicted_s > 0.0) {
      predictions.x.push_back(*measured_s);
      predictions.y.push_back(*predicted_s);
      const Interval interval = interval_of(*configuration).value_or(Interval{*predicted_s, *predicted_s});
      predictions.error.push_back(std::max(0.0, interval.upper - *predicted_s));
      predictions.error_below.push_back(std::max(0.0, *predicted_s - interval.lower));
    }
  }
  document.add_heading(1, app);
  document.add_table({"run", "units", "partition", all.front()->runs.front().value("computation_units", "slices"),
                      "time", "spread", "predicted", "difference", "mu", "check"},
                     rows);
  add_speeds(document, app, all);
  add_phases(document, configurations);
  return predictions;
}

/// Adds what is to be seen of a folder's runs: what was gained, on which machine and build, a chart of all predictions,
/// and for each app a table with predicted beside measured times, speed models and phases. Nothing for a folder without
/// runs.
/// @throws FileFormatError for a result that cannot be read
void add_runs(Document& document, const std::filesystem::path& folder) {
  const Results results = read_results(folder);
  std::map<std::string, std::map<std::string, const Configuration*>> apps;
  for (const auto& [name, configuration] : results) {
    apps[configuration.runs.front().value("app", "")][name] = &configuration;
  }
  if (apps.empty()) return;
  add_gains(document, results);
  add_machine(document, results.begin()->second.runs.front());
  SvgPlot chart;
  chart.title = "predicted and measured times of all runs";
  const nlohmann::json& first = results.begin()->second.runs.front();
  chart.corner =
      fmt::format("{}, {}", list_of(first.value("processors", nlohmann::json::array())), first.value("date", ""));
  chart.x_label = "measured, s";
  chart.y_label = "predicted, s";
  chart.x_scale = chart.y_scale = SvgPlot::Scale::logarithmic;
  SvgPlot::Series equal{"equal", {}, {}, {}, true};
  Document of_apps("");
  for (const auto& [app, configurations] : apps) {
    SvgPlot::Series series = add_app(of_apps, app, configurations);
    for (const double time_s : series.x) equal.x.push_back(time_s);
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  if (!chart.series.empty()) {
    std::sort(equal.x.begin(), equal.x.end());
    equal.y = equal.x;
    chart.series.push_back(equal);
    document.add_chart(chart);
  }
  document.add(of_apps);
}

struct ReportOptions {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
  std::string format = "html";
};

/// Folders of experiments in or below a folder, in order.
std::vector<std::filesystem::path> experiments(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw InvalidArgument(folder.string() + " is not a folder of results");
  if (std::filesystem::exists(folder / "experiment.json")) return {folder};
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "experiment.json") found.push_back(entry.path().parent_path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string report(const ReportOptions& options) {
  Document document("Steelyard: " + folder_name(options.folders.front()));
  for (const std::filesystem::path& folder : options.folders) {
    const std::vector<std::filesystem::path> found = experiments(folder);
    for (const std::filesystem::path& experiment : found) add_experiment(document, experiment);
    const bool is_experiment = found.size() == 1 && found.front() == folder;
    if (!is_experiment) add_runs(document, folder);
    if (found.empty() && read_results(folder).empty()) {
      throw InvalidArgument(folder.string() + " holds no result (expected run.json or experiment.json in or below it)");
    }
  }
  return options.format == "html" ? document.html() : document.markdown();
}

}  // namespace

void add_report_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = parser.add_subcommand(
      "report", "Show results on one page: machine, predictions beside measurements, experiments beside the papers'");
  command
      ->add_option("DIR", options->folders, "Results (--result), folders of results, or experiments of benchmarks/run")
      ->required();
  command->add_option("--output", options->output, "The page; on standard output without it")->type_name("FILE");
  command->add_option("--format", options->format, "html or markdown")
      ->check(CLI::IsMember({"html", "markdown"}))
      ->type_name("html|markdown")
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen = [options](Session& session) {
      std::string text;
      on_root(session.comm(), [&] {
        text = report(*options);
        if (options->output.empty()) return;
        write_text_file(options->output, text);
        text = fmt::format("report     {}\n", options->output.string());
      });
      session.print(text);
      return ExitCode::good;
    };
  });
}

}  // namespace steelyard::tool
