#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 20;

class SummaForecaster : public Forecaster {
 public:
  void add_options(CLI::App& parser) override {
    const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 30);
    parser.add_option("--size", problem_.n, "Rows and columns of the matrices")
        ->check(positive)
        ->type_name("N")
        ->capture_default_str();
    parser.add_option("--block", problem_.block, "Rows and columns of a block")
        ->check(positive)
        ->type_name("B")
        ->capture_default_str();
    add_element_option(parser, element_);
    parser.add_option("--communication", communication_, "How pivots travel")
        ->check(CLI::IsMember(communication_names()))
        ->type_name(CLI::detail::join(communication_names(), "|"))
        ->capture_default_str();
    add_node_order_option(parser, node_order_);
  }
  std::string default_partition() const override { return "column"; }

  std::string problem() const override {
    return fmt::format("summa, {0} x {0} {1} in blocks of {2} x {2}: {3} iterations, communication {4}\n", problem_.n,
                       element_name(element_), problem_.block, problem_.blocks(), communication_);
  }

  Forecast forecast(const Processes& processes, const std::string& partition) const override {
    if (problem_.blocks() > most_iterations) {
      throw InvalidArgument(
          fmt::format("--size {} in blocks of --block {} comes to {} iterations (expected at most {})", problem_.n,
                      problem_.block, problem_.blocks(), most_iterations));
    }
    KernelFacts facts;
    facts.app = "summa";
    facts.element = element_name(element_);
    facts.parameters["block"] = static_cast<double>(problem_.block);
    const auto models = processes.speed_models(facts, partition::find_algorithm(area_algorithm(partition)));
    std::vector<ProcessModels> models_of_process(static_cast<std::size_t>(processes.count()));
    for (std::size_t i = 0; i < models.size(); ++i) {
      const Processes::Unit& unit = processes.units()[i];
      ProcessModels& process = models_of_process[static_cast<std::size_t>(unit.process)];
      (unit.kind == ProcessingUnit::Kind::host ? process.host : process.companion) = models[i].get();
    }
    const Assignment assignment =
        assign(problem_, models_of_process, partition, node_order_ ? processes.node_of_process() : std::vector<int>());
    const Communication communication = parse_communication(communication_);
    // Nothing is known of a start without running it.
    const double update_s = processes.has_models() ? assignment.update_s() : 0.0, start_s = 0.0;
    Forecast forecast;
    forecast.rectangles = assignment.rectangles;
    forecast.details = details(processes, assignment);
    for (const CommunicationCost& one :
         communication_costs(problem_, assignment.rectangles, element_ == ElementType::float64 ? 8.0 : 4.0,
                             communication, processes.platform(), processes.placement())) {
      const Cost cost = total_cost(problem_, one.iteration_s, communication, update_s, start_s);
      ModelForecast by_model{one.model, {}, cost.communication_s, cost.total_s};
      if (processes.has_models()) by_model.phases.emplace_back("computation", cost.computation_s);
      by_model.phases.emplace_back("communication", cost.communication_s);
      forecast.models.push_back(by_model);
    }
    return forecast;
  }

 private:
  /// A row for every process.
  static std::string details(const Processes& processes, const Assignment& assignment) {
    Table table(
        {"process", "node", "row", "column", "rows", "columns", "host rows", "companion rows", "host", "companion"});
    const auto seconds = [&](double time_s) {
      return processes.has_models() && time_s > 0.0 ? format_seconds(time_s) : "-";
    };
    for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
      const partition::Rectangle& rectangle = assignment.rectangles[i];
      table.add_row({fmt::format("{}", i), processes.node_name(i), fmt::format("{}", rectangle.row),
                     fmt::format("{}", rectangle.column), fmt::format("{}", rectangle.rows),
                     fmt::format("{}", rectangle.columns), fmt::format("{}", assignment.rows[i].host),
                     fmt::format("{}", assignment.rows[i].companion), seconds(assignment.unit_s[i].host),
                     seconds(assignment.unit_s[i].companion)});
    }
    return table.text();
  }

  Problem problem_;
  ElementType element_ = ElementType::float64;
  std::string communication_ = "pipelined";
  bool node_order_ = false;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster() { return std::make_unique<SummaForecaster>(); }

}  // namespace steelyard::summa
