#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "miniapps/steelyard/predict_apps.hpp"
#include "miniapps/steelyard/predict_report.hpp"
#include "miniapps/steelyard/predicted_processes.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/options.hpp"

namespace steelyard::tool {
namespace {

struct WaveOptions {
  GridOptions grid;
  wave2d::Problem problem;
  std::int64_t steps = 100;
  int time_tile = 1;
  ElementType element = ElementType::float64;
  ProcessOptions processes;
  std::string partition = "geometric";
  std::string scaling = "none";
  std::string format = "table";
};

/// A run on some processes.
struct PredictedRun {
  std::vector<partition::Rectangle> rectangles;  ///< of every unit
  wave2d::PassCost pass;                         ///< with the exchange by the first model; no seconds for starting
  std::vector<wave2d::ExchangeCost> exchange;    ///< of a pass
  double passes = 0.0;

  double kernels_s() const { return passes * pass.kernels_s(); }
  double exchange_s() const { return passes * pass.exchange_s; }
  double total_s() const { return passes * pass.total_s(); }
};

PredictedRun predict_run(const WaveOptions& options, const wave2d::Problem& problem, const ProcessOptions& on) {
  const PredictedProcesses processes = predicted_processes(on);
  const models::Platform platform = read_platform(on, processes);
  KernelFacts facts;
  facts.app = "wave2d";
  facts.element = element_name(options.element);
  facts.parameters["columns"] = static_cast<double>(problem.columns);
  facts.parameters["order"] = problem.order;
  facts.parameters["time_tile"] = options.time_tile;
  const std::vector<models::SpeedModelPtr> models =
      unit_models(on, processes, facts, partition::find_algorithm(wave2d::row_algorithm(options.partition)));
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
  const wave2d::Assignment assignment = wave2d::assign(problem, pointers, options.partition);
  std::vector<int> process_of_unit;
  for (const PredictedUnit& unit : processes.units) process_of_unit.push_back(unit.process);
  const double element_bytes = options.element == ElementType::float64 ? 8.0 : 4.0;
  PredictedRun run;
  run.passes = static_cast<double>(options.steps) / options.time_tile;
  run.rectangles = assignment.rectangles;
  // Without models speeds are relative, and seconds mean nothing.
  if (!on.models.empty()) {
    // Nor do models of whole passes tell the border's part.
    std::vector<wave2d::UnitTimes> units;
    for (const double pass_s : assignment.pass_s) units.push_back({0.0, 0.0, 0.0, pass_s});
    run.pass = wave2d::pass_cost(process_of_unit, units);
  }
  run.exchange = wave2d::exchange_costs(
      wave2d::exchange_pattern(wave2d::halo_messages(problem, assignment.rectangles, options.time_tile),
                               process_of_unit, processes.count(), element_bytes),
      platform, placement_on(platform, processes));
  run.pass.exchange_s = run.exchange.front().time_s;
  return run;
}

std::string header(const WaveOptions& options) {
  const wave2d::Problem& problem = options.problem;
  return fmt::format("problem    wave2d, {} x {} {}, order {}: {} steps, {} per pass\npartition  {}\n", problem.rows,
                     problem.columns, element_name(options.element), problem.order, options.steps, options.time_tile,
                     options.partition);
}

std::string predict_once(const WaveOptions& options) {
  const PredictedRun run = predict_run(options, options.problem, options.processes);
  Prediction prediction;
  prediction.app = "wave2d";
  prediction.rectangles = run.rectangles;
  if (!options.processes.models.empty()) prediction.computation_s = run.kernels_s();
  for (const wave2d::ExchangeCost& one : run.exchange) {
    wave2d::PassCost pass = run.pass;
    pass.exchange_s = one.time_s;
    prediction.communication.push_back({one.model, run.passes * one.time_s, run.passes * pass.total_s()});
  }
  if (options.format == "json") return prediction_json(prediction);
  return header(options) + prediction_table(prediction);
}

/// 1, 2, 4, … processes up to what the user named. Strong scaling: the same grid; weak: so many rows per process.
std::string predict_scaling(const WaveOptions& options) {
  const bool weak = options.scaling == "weak";
  Table table({"processes", "rows", "kernels", "exchange", "time", weak ? "scaled speedup" : "speedup", "efficiency"});
  nlohmann::ordered_json json{{"app", "wave2d"}, {"scaling", options.scaling}, {"runs", nlohmann::json::array()}};
  double one_s = 0.0;
  for (int count = 1;; count = std::min(2 * count, options.processes.processes)) {
    ProcessOptions on = options.processes;
    on.processes = count;
    wave2d::Problem problem = options.problem;
    if (weak) problem.rows *= count;
    const PredictedRun run = predict_run(options, problem, on);
    if (count == 1) one_s = run.total_s();
    const double speedup = (weak ? count : 1) * one_s / run.total_s();
    table.add_row({fmt::format("{}", count), fmt::format("{}", problem.rows), format_seconds(run.kernels_s()),
                   format_seconds(run.exchange_s()), format_seconds(run.total_s()), fmt::format("{:.1f}", speedup),
                   fmt::format("{:.0f} %", 100.0 * speedup / count)});
    json["runs"].push_back(
        {{"processes", count},
         {"rows", problem.rows},
         {"phases",
          {{{"name", "kernels"}, {"time_s", run.kernels_s()}}, {{"name", "exchange"}, {"time_s", run.exchange_s()}}}},
         {"time_s", run.total_s()},
         {"speedup", speedup}});
    if (count == options.processes.processes) break;
  }
  return options.format == "json" ? json.dump(2) + "\n" : header(options) + table.text();
}

std::string predict(WaveOptions options) {
  options.problem.rows = options.grid.rows;
  options.problem.columns = options.grid.columns;
  if (options.scaling == "none") return predict_once(options);
  if (options.processes.models.empty() || !options.processes.layout.empty()) {
    throw InvalidArgument(
        "--scaling needs --model, and --processes instead of --layout (expected one model of a process)");
  }
  return predict_scaling(options);
}

}  // namespace

void add_predict_wave2d(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<WaveOptions>();
  CLI::App* app = parser.add_subcommand("wave2d", "Wave equation in two dimensions");
  add_grid_options(*app, options->grid, 2048);
  app->add_option("--steps", options->steps, "Time steps")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--time-tile", options->time_tile, "Steps per pass and per exchange; that of the models")
      ->check(CLI::Range(1, wave2d::most_steps_per_pass))
      ->type_name("K")
      ->capture_default_str();
  wave2d::add_order_option(*app, options->problem.order);
  add_element_option(*app, options->element);
  add_process_options(*app, options->processes);
  app->add_option("--partition", options->partition, "column, or another of steelyard partition --list")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--scaling", options->scaling, "A table of 1, 2, 4, ... processes up to --processes")
      ->check(CLI::IsMember({"none", "strong", "weak"}))
      ->type_name("strong|weak");
  app->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("table|json");
  app->callback([options, &chosen] {
    chosen = [options](Session& session) {
      std::string text;
      on_root(session.comm(), [&] { text = predict(*options); });
      session.print(text);
      return ExitCode::good;
    };
  });
}

}  // namespace steelyard::tool
