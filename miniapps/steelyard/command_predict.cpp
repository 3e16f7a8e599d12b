#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/forecast.hpp"
#include "miniapps/steelyard/advice.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  MiniApp* mini_app = nullptr;
  std::shared_ptr<AppOptions> parsers;
  std::string app;                         ///< its name
  std::shared_ptr<Forecaster> forecaster;  ///< as the options say
  ProcessOptions processes;
  std::string partition;
  std::string scaling = "none";
  bool detail = false;
  bool advise = false;
  bool json = false;
};

std::string header(const PredictOptions& options, const Processes& processes) {
  return fmt::format("problem    {}processes  {} with {} on {}\npartition  {}\n", options.forecaster->problem(),
                     processes.count(), counted(std::ssize(processes.units()), "processing unit"),
                     counted(processes.nodes(), "node"), options.partition);
}

ordered_json phases_json(const ModelForecast& forecast) {
  ordered_json phases = ordered_json::array();
  for (const auto& [name, seconds] : forecast.phases) phases.push_back({{"name", name}, {"time_s", seconds}});
  return phases;
}

ordered_json interval_json(const models::Estimate& estimate) {
  const Interval interval = estimate.interval();
  return {interval.lower, interval.upper};
}

/// Of the columns `time`, `90 % from` and `90 % to`, numbers each for `--csv`.
std::vector<std::string> time_cells(const models::Estimate& estimate) {
  const Interval interval = estimate.interval();
  return {format_seconds(estimate.time_s), format_seconds(interval.lower), format_seconds(interval.upper)};
}

std::string forecast_json(const std::string& app, const Forecast& forecast) {
  const ModelForecast& first = forecast.models.front();
  ordered_json json{{"app", app},
                    {"phases", phases_json(first)},
                    {"time_s", first.total_s},
                    {"predicted_interval_s", interval_json(forecast.estimate(first))},
                    {"communication_model", first.model},
                    {"models", ordered_json::object()}};
  for (const ModelForecast& one : forecast.models) json["models"][one.model] = one.communication_s;
  if (!forecast.distribution.empty()) json["distribution"] = forecast.distribution;
  if (!forecast.column_distribution.empty()) json["column_distribution"] = forecast.column_distribution;
  if (!forecast.rectangles.empty()) json["rectangles"] = rectangles_json(forecast.rectangles);
  return json.dump(2) + "\n";
}

/// A row for each model of communication, and the total by the first one.
std::string forecast_table(const Forecast& forecast, bool has_models) {
  const ModelForecast& first = forecast.models.front();
  std::vector<std::string> headings{"model"};
  for (const auto& [name, seconds] : first.phases) headings.push_back(name);
  headings.emplace_back("total");
  Table table(headings);
  for (const ModelForecast& one : forecast.models) {
    std::vector<std::string> cells{one.model};
    for (const auto& [name, seconds] : one.phases) cells.push_back(format_seconds(seconds));
    cells.push_back(format_seconds(one.total_s));
    table.add_row(cells);
  }
  return table.text() + fmt::format("total      {}{} ({}{})\n", format_seconds(first.total_s),
                                    interval_text(forecast.estimate(first).interval()), first.model,
                                    has_models ? "" : "; communication alone, for want of --model");
}

/// What `--detail` prints: the app's own table, or a row for every processing unit.
std::string details(const Processes& processes, const Forecast& forecast) {
  if (!forecast.details.empty()) return forecast.details;
  Table table({"process", "node", "unit", "computation units"});
  for (std::size_t i = 0; i < processes.units().size(); ++i) {
    const Processes::Unit& unit = processes.units()[i];
    const std::int64_t count = forecast.distribution.empty() ? forecast.rectangles[i].area() : forecast.distribution[i];
    table.add_row({fmt::format("{}", unit.process), processes.node_name(unit.process),
                   unit.kind == ProcessingUnit::Kind::host ? "host" : "device", fmt::format("{}", count)});
  }
  return table.text();
}

/// Why an efficiency is above 100 %; empty where none is.
std::string superlinear_note(double efficiency) {
  if (efficiency <= 1.005) return "";
  return "note       efficiencies above 100 % are those of the speed models: smaller slices are faster, as in caches\n";
}

/// Strong or weak scaling: 1, 2, 4, … processes up to the number of the options, each beside one process.
std::string predict_scaling(const PredictOptions& options) {
  if (options.processes.models.empty() || !options.processes.layout.empty()) {
    throw InvalidArgument(
        "--scaling needs --model, and --processes instead of --layout (expected one model of a process)");
  }
  const bool weak = options.scaling == "weak";
  if (weak && !options.forecaster->has_weak_scaling()) {
    throw InvalidArgument(fmt::format("--scaling weak is not known of {} (expected strong)", options.app));
  }
  std::optional<Table> table;
  ordered_json json{{"app", options.app}, {"scaling", options.scaling}, {"runs", ordered_json::array()}};
  double one_s = 0.0, best_efficiency = 0.0;
  for (int count = 1;; count = std::min(2 * count, options.processes.processes)) {
    ProcessOptions on = options.processes;
    on.processes = count;
    if (weak) options.forecaster->enlarge(count);
    Processes processes(on);
    const Forecast forecast = options.forecaster->forecast(processes, options.partition);
    const ModelForecast& run = forecast.models.front();
    const models::Estimate estimate = forecast.estimate(run);
    if (count == 1) one_s = run.total_s;
    const double speedup = (weak ? count : 1) * one_s / run.total_s;
    best_efficiency = std::max(best_efficiency, speedup / count);
    std::vector<std::string> headings{"processes"}, cells{fmt::format("{}", count)};
    for (const auto& [name, seconds] : run.phases) {
      headings.push_back(name);
      cells.push_back(format_seconds(seconds));
    }
    headings.insert(headings.end(),
                    {"time", "90 % from", "90 % to", weak ? "scaled speedup" : "speedup", "efficiency"});
    const std::vector<std::string> times = time_cells(estimate);
    cells.insert(cells.end(), times.begin(), times.end());
    cells.insert(cells.end(), {fmt::format("{:.1f}", speedup), fmt::format("{:.0f} %", 100.0 * speedup / count)});
    if (!table) table.emplace(headings);
    table->add_row(cells);
    json["runs"].push_back({{"processes", count},
                            {"phases", phases_json(run)},
                            {"time_s", run.total_s},
                            {"predicted_interval_s", interval_json(estimate)},
                            {"speedup", speedup}});
    if (count == options.processes.processes) break;
  }
  if (options.json) return json.dump(2) + "\n";
  return table->text() + Processes(options.processes).concurrency_note() + superlinear_note(best_efficiency);
}

/// A row for each way to run the app, the fastest first, and what follows from them.
std::string advise(const PredictOptions& options) {
  const std::string problem = options.forecaster->problem();
  const std::vector<AdvisedRun> runs = advised_runs(*options.forecaster, options.processes);
  ordered_json json{{"app", options.app}, {"advice", advice_text(runs)}, {"runs", ordered_json::array()}};
  const bool has_variants = !runs.front().variant.empty();
  std::vector<std::string> headings{"processes", "units", "partition", "time", "90 % from", "90 % to"};
  if (has_variants) headings.emplace_back("variant");
  for (const auto& [name, seconds] : runs.front().forecast.phases) headings.push_back(name);
  Table table(headings);
  for (const AdvisedRun& run : runs) {
    json["runs"].push_back({{"processes", run.processes},
                            {"units", run.units},
                            {"variant", run.variant},
                            {"partition", run.partition},
                            {"phases", phases_json(run.forecast)},
                            {"time_s", run.estimate.time_s},
                            {"predicted_interval_s", interval_json(run.estimate)}});
    std::vector<std::string> cells{fmt::format("{}", run.processes), run.units, run.partition};
    for (const std::string& cell : time_cells(run.estimate)) cells.push_back(cell);
    if (has_variants) cells.push_back(run.variant);
    for (const auto& [name, seconds] : run.forecast.phases) cells.push_back(format_seconds(seconds));
    table.add_row(cells);
  }
  if (options.json) return json.dump(2) + "\n";
  return fmt::format("problem    {}{}advice     {}\n", problem, table.text(), advice_text(runs));
}

std::string predict(PredictOptions& options) {
  RunOptions& run = options.mini_app->run_options();
  run.partition = options.partition;
  run.models = options.processes.models;
  options.mini_app->prepare();
  options.forecaster = options.mini_app->forecaster();
  if (options.advise) return advise(options);
  Processes processes(options.processes);
  if (processes.has_models()) options.forecaster->adopt(models::read_fpm_file(options.processes.models.front()));
  if (options.scaling != "none") {
    return (options.json ? "" : header(options, processes)) + predict_scaling(options);
  }
  const Forecast forecast = options.forecaster->forecast(processes, options.partition);
  if (options.json) return forecast_json(options.app, forecast);
  return header(options, processes) + (options.detail ? details(processes, forecast) : "") +
         forecast_table(forecast, processes.has_models()) + processes.concurrency_note();
}

void add_app(CLI::App& parser, MiniApp& mini_app, Action& chosen) {
  mini_app.prepare();
  if (!mini_app.forecaster()) return;
  auto options = std::make_shared<PredictOptions>();
  options->mini_app = &mini_app;
  options->app = mini_app.facts().name;
  options->partition = mini_app.run_options().partition;
  CLI::App* app = parser.add_subcommand(options->app, mini_app.facts().description);
  options->parsers = add_app_options(*app, mini_app, Verb::predict);
  options->processes.has_messages = mini_app.facts().takes.platform;
  add_process_options(*app, options->processes);
  CLI::Option* partition =
      app->add_option("--partition", options->partition, "As the mini-app's own (see steelyard partition --list)")
          ->type_name("NAME")
          ->capture_default_str();
  CLI::Option* scaling = add_choice(*app, "--scaling", options->scaling,
                                    "A table of 1, 2, 4, ... processes up to --processes", {"none", "strong", "weak"});
  CLI::Option* detail = app->add_flag("--detail", options->detail, "What every process gets");
  app->add_flag("--advise", options->advise,
                "A table of the ways to run it that the models of --model tell of, with up to --processes, and which "
                "to take: the simplest of those that are within 5 % of the fastest")
      ->excludes(partition)
      ->excludes(scaling)
      ->excludes(detail)
      ->excludes(app->get_option("--units"))
      ->excludes(app->get_option("--layout"));
  add_format_option(*app, options->json);
  app->callback([options, &chosen] { chosen = print_from_root([options] { return predict(*options); }); });
}

}  // namespace

void add_predict_command(CLI::App& parser, const MiniApps& apps, Action& chosen) {
  CLI::App* command = add_command_of_apps(
      parser, "predict", "Predict how long an app takes on a platform, for any number of processes, without running it",
      "An app to predict");
  for (const std::unique_ptr<MiniApp>& app : apps) add_app(*command, *app, chosen);
}

}  // namespace steelyard::tool
