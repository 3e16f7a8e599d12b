#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "comm/collective.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "miniapps/steelyard/predict_apps.hpp"
#include "miniapps/steelyard/predict_report.hpp"
#include "miniapps/steelyard/predicted_processes.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"

namespace steelyard::tool {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 20;

struct SummaOptions {
  summa::Problem problem;
  ElementType element = ElementType::float64;
  ProcessOptions processes;
  std::string partition = "column";
  std::string communication = "pipelined";
  bool detail = false;
  std::string format = "table";
};

void require_problem(const summa::Problem& problem) {
  if (problem.blocks() > most_iterations) {
    throw InvalidArgument(fmt::format("--size {} in blocks of --block {} comes to {} iterations (expected at most {})",
                                      problem.n, problem.block, problem.blocks(), most_iterations));
  }
}

std::vector<summa::ProcessModels> models_by_process(const PredictedProcesses& processes,
                                                    const std::vector<models::SpeedModelPtr>& models) {
  std::vector<summa::ProcessModels> by_process(static_cast<std::size_t>(processes.count()));
  for (std::size_t i = 0; i < processes.units.size(); ++i) {
    const PredictedUnit& unit = processes.units[i];
    by_process[static_cast<std::size_t>(unit.process)][unit.kind] = models[i].get();
  }
  return by_process;
}

std::string header(const SummaOptions& options, const PredictedProcesses& processes) {
  const summa::Problem& problem = options.problem;
  return fmt::format(
      "problem    summa, {0} x {0} {1} in blocks of {2} x {2}: {3} iterations\n"
      "processes  {4} with {5} processing units on {6} node{7}\n"
      "partition  {8}, communication {9}\n",
      problem.n, element_name(options.element), problem.block, problem.blocks(), processes.count(),
      processes.units.size(), processes.nodes(), processes.nodes() == 1 ? "" : "s", options.partition,
      options.communication);
}

std::string detail_table(const PredictedProcesses& processes, const summa::Assignment& assignment, bool with_times) {
  Table table(
      {"process", "node", "row", "column", "rows", "columns", "host rows", "companion rows", "host", "companion"});
  const auto seconds = [&](double time_s) { return with_times && time_s > 0.0 ? format_seconds(time_s) : "-"; };
  for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
    const partition::Rectangle& rectangle = assignment.rectangles[i];
    const int node = processes.node_of_process[i];
    table.add_row({fmt::format("{}", i),
                   processes.hosts.empty() ? fmt::format("{}", node) : processes.hosts[static_cast<std::size_t>(node)],
                   fmt::format("{}", rectangle.row), fmt::format("{}", rectangle.column),
                   fmt::format("{}", rectangle.rows), fmt::format("{}", rectangle.columns),
                   fmt::format("{}", assignment.rows[i].host), fmt::format("{}", assignment.rows[i].companion),
                   seconds(assignment.unit_s[i].host), seconds(assignment.unit_s[i].companion)});
  }
  return table.text();
}

std::string predict(const SummaOptions& options) {
  require_problem(options.problem);
  const PredictedProcesses processes = predicted_processes(options.processes);
  const models::Platform platform = read_platform(options.processes, processes);
  KernelFacts facts;
  facts.app = "summa";
  facts.element = element_name(options.element);
  facts.parameters["block"] = static_cast<double>(options.problem.block);
  const std::vector<models::SpeedModelPtr> models = unit_models(
      options.processes, processes, facts, partition::find_algorithm(summa::area_algorithm(options.partition)));
  const summa::Assignment assignment =
      summa::assign(options.problem, models_by_process(processes, models), options.partition);
  const summa::Communication communication = summa::parse_communication(options.communication);
  const bool with_times = !options.processes.models.empty();
  // Nothing is known of a start without running it.
  const double update_s = with_times ? assignment.update_s() : 0.0, start_s = 0.0;
  const double element_bytes = options.element == ElementType::float64 ? 8.0 : 4.0;
  Prediction prediction;
  prediction.app = facts.app;
  prediction.rectangles = assignment.rectangles;
  for (const summa::CommunicationCost& one :
       summa::communication_costs(options.problem, assignment.rectangles, element_bytes, communication, platform,
                                  placement_on(platform, processes))) {
    const summa::Cost cost = summa::total_cost(options.problem, one.iteration_s, communication, update_s, start_s);
    prediction.communication.push_back({one.model, cost.communication_s, cost.total_s});
    if (with_times) prediction.computation_s = cost.computation_s;
  }
  if (options.format == "json") return prediction_json(prediction);
  return header(options, processes) + (options.detail ? detail_table(processes, assignment, with_times) : "") +
         prediction_table(prediction);
}

}  // namespace

void add_predict_summa(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<SummaOptions>();
  CLI::App* app = parser.add_subcommand("summa", "Matrix multiplication over all nodes");
  const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 30);
  app->add_option("--size", options->problem.n, "Rows and columns of the matrices")
      ->check(positive)
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--block", options->problem.block, "Rows and columns of a block")
      ->check(positive)
      ->type_name("B")
      ->capture_default_str();
  add_element_option(*app, options->element);
  add_process_options(*app, options->processes);
  app->add_option("--partition", options->partition,
                  "column, even, another of steelyard partition --list, or a file *.json with rectangles")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app->add_option("--communication", options->communication, "How pivots travel")
      ->check(CLI::IsMember(summa::communication_names()))
      ->type_name(CLI::detail::join(summa::communication_names(), "|"))
      ->capture_default_str();
  app->add_flag("--detail", options->detail, "A row for every process");
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
