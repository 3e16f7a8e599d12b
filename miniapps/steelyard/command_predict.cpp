#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/processes.hpp"
#include "miniapps/steelyard/advice.hpp"
#include "miniapps/steelyard/command.hpp"

namespace steelyard::tool {
namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  MiniApp* app = nullptr;
  std::shared_ptr<AppOptions> parsers;
  ProcessCount processes;
  std::string scaling = "none";
  bool detail = false;
  bool advise = false;
  bool json = false;

  std::string name() const { return app->facts().name; }
  Processes on(const ProcessCount& count) const { return {app->run_options(), count, app->facts().takes.platform}; }
};

std::string header(const PredictOptions& options, const Processes& processes) {
  return fmt::format("problem    {}\nprocesses  {} with {} on {}\npartition  {}\n", options.app->problem(),
                     processes.ranks(), counted(std::ssize(processes.slots()), "processing unit"),
                     counted(processes.nodes(), "node"), processes.partition());
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

/// Cells of the columns `time`, `90 % from` and `90 % to`, numbers each for `--csv`.
std::vector<std::string> time_cells(const models::Estimate& estimate) {
  const Interval interval = estimate.interval();
  return {format_seconds(estimate.time_s), format_seconds(interval.lower), format_seconds(interval.upper)};
}

std::string plan_json(const std::string& app, const Plan& plan, double channel_error) {
  const ModelForecast& first = plan.by_model.front();
  ordered_json json{{"app", app},
                    {"phases", phases_json(first)},
                    {"time_s", first.total_s},
                    {"predicted_interval_s", interval_json(estimate(plan, first, channel_error))},
                    {"communication_model", first.model},
                    {"models", ordered_json::object()}};
  for (const ModelForecast& one : plan.by_model) json["models"][one.model] = one.communication_s;
  json["distribution"] = plan.distribution;
  if (!plan.column_distribution.empty()) json["column_distribution"] = plan.column_distribution;
  std::vector<partition::Rectangle> rectangles;
  for (const RectangleRecord& part : plan.rectangles) {
    rectangles.push_back({part.row, part.column, part.rows, part.columns});
  }
  if (!rectangles.empty()) json["rectangles"] = rectangles_json(rectangles);
  return json.dump(2) + "\n";
}

/// A row for each model of communication, and the total by the first one.
std::string plan_table(const Plan& plan, const Processes& processes) {
  const ModelForecast& first = plan.by_model.front();
  std::vector<std::string> headings{"model"};
  for (const auto& [name, seconds] : first.phases) headings.push_back(name);
  headings.emplace_back("total");
  Table table(headings);
  for (const ModelForecast& one : plan.by_model) {
    std::vector<std::string> cells{one.model};
    for (const auto& [name, seconds] : one.phases) cells.push_back(format_seconds(seconds));
    cells.push_back(format_seconds(one.total_s));
    table.add_row(cells);
  }
  return table.text() + fmt::format("total      {}{} ({}{})\n", format_seconds(first.total_s),
                                    interval_text(estimate(plan, first, processes.channel_error()).interval()),
                                    first.model,
                                    processes.has_seconds() ? "" : "; communication alone, for want of --model");
}

/// Text of `--detail`: the app's own table, or a row for every processing unit.
std::string details(const Processes& processes, const Plan& plan) {
  if (!plan.details.empty()) return plan.details;
  Table table({"process", "node", "unit", "computation units"});
  for (std::size_t i = 0; i < processes.slots().size(); ++i) {
    const Slot& slot = processes.slots()[i];
    table.add_row({fmt::format("{}", slot.rank), processes.node_name(slot.rank),
                   slot.kind == ProcessingUnit::Kind::host ? "host" : "device",
                   fmt::format("{}", plan.distribution[i])});
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
  const RunOptions& run_options = options.app->run_options();
  if (run_options.models.empty() || !run_options.layout.empty()) {
    throw InvalidArgument(
        "--scaling needs --model, and --processes instead of --layout (expected one model of a process)");
  }
  const bool weak = options.scaling == "weak";
  if (weak && !options.app->facts().grows) {
    throw InvalidArgument(fmt::format("--scaling weak is not known of {} (expected strong)", options.name()));
  }
  std::optional<Table> table;
  ordered_json json{{"app", options.name()}, {"scaling", options.scaling}, {"runs", ordered_json::array()}};
  double one_s = 0.0, best_efficiency = 0.0;
  const int most = options.processes.processes;
  for (int count = 1;; count = std::min(2 * count, most)) {
    Processes processes = options.on({count, options.processes.per_node});
    const Plan plan = options.app->plan(processes, weak ? count : 1);
    const ModelForecast& run = plan.by_model.front();
    const models::Estimate total = estimate(plan, run, processes.channel_error());
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
    const std::vector<std::string> times = time_cells(total);
    cells.insert(cells.end(), times.begin(), times.end());
    cells.insert(cells.end(), {fmt::format("{:.1f}", speedup), fmt::format("{:.0f} %", 100.0 * speedup / count)});
    if (!table) table.emplace(headings);
    table->add_row(cells);
    json["runs"].push_back({{"processes", count},
                            {"phases", phases_json(run)},
                            {"time_s", run.total_s},
                            {"predicted_interval_s", interval_json(total)},
                            {"speedup", speedup}});
    if (count < most) continue;
    if (options.json) return json.dump(2) + "\n";
    return table->text() + processes.concurrency_note() + superlinear_note(best_efficiency);
  }
}

/// A row for each way to run the app, the fastest first, and what follows from them.
std::string advise(const PredictOptions& options) {
  const std::vector<AdvisedRun> runs = advised_runs(*options.app, options.processes);
  ordered_json json{{"app", options.name()}, {"advice", advice_text(runs)}, {"runs", ordered_json::array()}};
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
  return fmt::format("problem    {}\n{}advice     {}\n", options.app->problem(), table.text(), advice_text(runs));
}

std::string predict(const PredictOptions& options) {
  prepare_options(*options.app);
  if (options.advise) return advise(options);
  Processes processes = options.on(options.processes);
  if (options.scaling != "none") return (options.json ? "" : header(options, processes)) + predict_scaling(options);
  const Plan plan = options.app->plan(processes, 1);
  if (options.json) return plan_json(options.name(), plan, processes.channel_error());
  return header(options, processes) + (options.detail ? details(processes, plan) : "") + plan_table(plan, processes) +
         processes.concurrency_note();
}

void add_app(CLI::App& parser, MiniApp& mini_app, Action& chosen) {
  auto options = std::make_shared<PredictOptions>();
  options->app = &mini_app;
  CLI::App* app = parser.add_subcommand(options->name(), mini_app.facts().description);
  options->parsers = add_app_options(*app, mini_app, Verb::predict);
  add_process_options(*app, options->processes);
  CLI::Option* scaling = add_choice(*app, "--scaling", options->scaling,
                                    "A table of 1, 2, 4, ... processes up to --processes", {"none", "strong", "weak"});
  CLI::Option* detail = app->add_flag("--detail", options->detail, "What every process gets");
  CLI::Option* advise = app->add_flag(
      "--advise", options->advise,
      "A table of the ways to run it that the models of --model tell of, with up to --processes, and which to take: "
      "the simplest of those that are within 5 % of the fastest");
  for (const char* chosen_by_advice : {"--partition", "--distribution", "--units", "--layout", "--slowdown"}) {
    advise->excludes(app->get_option(chosen_by_advice));
  }
  advise->excludes(scaling)->excludes(detail);
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
