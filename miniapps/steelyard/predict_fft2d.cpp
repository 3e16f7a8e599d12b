#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/fft2d/options.hpp"
#include "miniapps/steelyard/predict_apps.hpp"
#include "miniapps/steelyard/predicted_processes.hpp"

namespace steelyard::tool {
namespace {

struct TransformOptions {
  GridOptions grid;
  fft2d::Problem problem;
  fft2d::ExchangeOptions exchange;
  ElementType element = ElementType::float64;
  ProcessOptions processes;
  std::vector<std::filesystem::path> column_models;
  double bytes_per_s = 0.0;
  std::string partition = "geometric";
  std::string format = "table";
};

/// A transform on some processes.
struct PredictedTransform {
  fft2d::ExchangeChoice exchange;
  fft2d::Assignment assignment;
  std::vector<std::pair<std::string, fft2d::TransformCost>> costs;  ///< by model; the first one counts
};

std::vector<const models::SpeedModel*> pointers(const std::vector<models::SpeedModelPtr>& models) {
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models) pointers.push_back(model.get());
  return pointers;
}

/// What a row's model has to be of, whoever has planned its transform.
KernelFacts row_facts(std::int64_t columns, ElementType element, bool real) {
  KernelFacts facts = fft2d::MeasuredKernel(columns, real, element, {}).facts();
  facts.parameters.erase("planner");
  return facts;
}

/// Models of pass 2, which are those of pass 1 where rows are alike. @throws InvalidArgument where they are missing
std::vector<models::SpeedModelPtr> column_models(const TransformOptions& options, const PredictedProcesses& processes,
                                                 const partition::Algorithm& algorithm) {
  const fft2d::Problem& problem = options.problem;
  const bool alike = !problem.real && problem.rows == problem.columns;
  ProcessOptions of_columns = options.processes;
  if (!options.column_models.empty()) {
    of_columns.models = options.column_models;
  } else if (!alike && !of_columns.models.empty()) {
    throw InvalidArgument(
        fmt::format("--column-model is missing (expected models of {} points, for those of --model are of {}{})",
                    problem.rows, problem.columns, problem.real ? " real numbers" : ""));
  }
  return unit_models(of_columns, processes, row_facts(problem.rows, options.element, false), algorithm);
}

PredictedTransform predict_transform(const TransformOptions& options) {
  const ProcessOptions& on = options.processes;
  const PredictedProcesses processes = predicted_processes(on);
  const models::Platform platform = read_platform(on, processes);
  const partition::Algorithm& algorithm = partition::find_algorithm(options.partition);
  const fft2d::Problem& problem = options.problem;
  if (!options.column_models.empty() && on.models.empty()) {
    throw InvalidArgument("--column-model without --model (expected the models of both passes, or none)");
  }
  const auto rows = unit_models(on, processes, row_facts(problem.columns, options.element, problem.real), algorithm);
  const auto columns = column_models(options, processes, algorithm);
  std::vector<int> ranks;
  for (const PredictedUnit& unit : processes.units) ranks.push_back(unit.process);
  PredictedTransform predicted;
  predicted.exchange = options.exchange.choice(processes.nodes());
  const std::int64_t complex_bytes = options.element == ElementType::float64 ? 16 : 8;
  predicted.assignment = fft2d::assign(problem, pointers(rows), pointers(columns), options.partition, complex_bytes);
  const auto point_bytes = static_cast<double>(complex_bytes);
  const fft2d::PassPlans plans = fft2d::plan_passes(problem, predicted.assignment.shares(), ranks, predicted.exchange);
  fft2d::TransformCost kernels;
  kernels.rows.batches = kernels.columns.batches = predicted.exchange.parts();
  // Without models speeds are relative, and seconds mean nothing.
  if (!on.models.empty()) {
    kernels.rows = fft2d::kernel_cost(ranks, predicted.assignment.rows.predicted_s, predicted.exchange);
    kernels.columns = fft2d::kernel_cost(ranks, predicted.assignment.columns.predicted_s, predicted.exchange);
  }
  if (options.bytes_per_s > 0.0) {
    kernels.unpack_s = fft2d::unpack_bytes(plans.columns, point_bytes) / (processes.nodes() * options.bytes_per_s);
  }
  const models::Placement placement = placement_on(platform, processes);
  for (const fft2d::ExchangeCost& exchange : fft2d::exchange_costs(plans, point_bytes, platform, placement)) {
    fft2d::TransformCost cost = kernels;
    fft2d::add_exchange(cost, exchange, plans, platform, placement);
    predicted.costs.emplace_back(exchange.model, cost);
  }
  return predicted;
}

std::vector<std::pair<std::string, double>> phases(const fft2d::TransformCost& cost, bool transposed) {
  std::vector<std::pair<std::string, double>> phases{
      {"rows", cost.rows_s()}, {"first exchange", cost.first_exchange_s()}, {"columns", cost.columns_s()}};
  if (!transposed) phases.emplace_back("second exchange", cost.second_exchange_s());
  return phases;
}

std::string predict(TransformOptions options) {
  options.problem.rows = options.grid.rows;
  options.problem.columns = options.grid.columns;
  const fft2d::Problem& problem = options.problem;
  const PredictedTransform predicted = predict_transform(options);
  const auto& [model, cost] = predicted.costs.front();
  const std::string& exchange = fft2d::exchange_names()[static_cast<std::size_t>(predicted.exchange.exchange)];
  if (options.format == "json") {
    nlohmann::ordered_json json{{"app", "fft2d"}, {"phases", nlohmann::json::array()}};
    for (const auto& [name, seconds] : phases(cost, problem.transposed)) {
      json["phases"].push_back({{"name", name}, {"time_s", seconds}});
    }
    json["time_s"] = cost.total_s();
    json["exchange"] = exchange;
    json["communication_model"] = model;
    json["models"] = nlohmann::ordered_json::object();
    for (const auto& [name, one] : predicted.costs) {
      json["models"][name] = one.rows.exchange_s + one.columns.exchange_s;
    }
    json["distribution"] = predicted.assignment.rows.units;
    json["column_distribution"] = predicted.assignment.columns.units;
    return json.dump(2) + "\n";
  }
  std::vector<std::string> headings{"model"};
  for (const auto& [name, seconds] : phases(cost, problem.transposed)) headings.push_back(name);
  headings.emplace_back("total");
  Table table(headings);
  for (const auto& [name, one] : predicted.costs) {
    std::vector<std::string> cells{name};
    for (const auto& [ignored, seconds] : phases(one, problem.transposed)) cells.push_back(format_seconds(seconds));
    cells.push_back(format_seconds(one.total_s()));
    table.add_row(cells);
  }
  return fmt::format("problem    fft2d, {} x {} {}{}, exchange {}\npartition  {}\n{}total      {} ({}{})\n",
                     problem.rows, problem.columns, problem.real ? "" : "complex ", element_name(options.element),
                     exchange, options.partition, table.text(), format_seconds(cost.total_s()), model,
                     options.processes.models.empty() ? "; communication alone, for want of --model" : "");
}

}  // namespace

void add_predict_fft2d(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<TransformOptions>();
  CLI::App* app = parser.add_subcommand("fft2d", "Fourier transform in two dimensions");
  add_grid_options(*app, options->grid, 2048);
  app->add_flag("--real", options->problem.real, "Real input");
  app->add_flag("--transposed", options->problem.transposed, "Leave the spectrum transposed");
  add_element_option(*app, options->element);
  fft2d::add_exchange_options(*app, options->exchange);
  add_process_options(*app, options->processes);
  app->add_option("--column-model", options->column_models,
                  "Models of pass 2 likewise; needed where its rows are not like those of pass 1")
      ->type_name("FILE...");
  app->add_option("--memory-bandwidth", options->bytes_per_s,
                  "Bytes per second of a node's memory, for putting what arrives into place (default: in no time)")
      ->check(CLI::PositiveNumber)
      ->type_name("B");
  app->add_option("--partition", options->partition, "Partitioning algorithm (see steelyard partition --list)")
      ->type_name("NAME")
      ->capture_default_str();
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
