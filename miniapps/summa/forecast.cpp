#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "core/typed_options.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {
namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 20;

class SummaForecaster : public Forecaster {
 public:
  SummaForecaster(const Problem& problem, const Options& options)
      : problem_(problem), element_(options.run.element), choices_(options.choices) {}

  std::vector<std::string> partitions() const override { return {"even", "column"}; }

  std::string problem() const override {
    return fmt::format("summa, {0} x {0} {1} in blocks of {2} x {2}: {3} iterations, communication {4}\n", problem_.n,
                       element_name(element_), problem_.block, problem_.blocks(),
                       communication_name(choices_.communication));
  }

  Forecast forecast(Processes& processes, const std::string& partition) const override {
    if (problem_.blocks() > most_iterations) {
      throw InvalidArgument(
          fmt::format("--size {} in blocks of --block {} comes to {} iterations (expected at most {})", problem_.n,
                      problem_.block, problem_.blocks(), most_iterations));
    }
    KernelFacts facts;
    facts.app = "summa";
    facts.element = element_name(element_);
    facts.parameters["block"] = static_cast<double>(problem_.block);
    const SpeedModels models = processes.speed_models(facts, partition::find_algorithm(area_algorithm(partition)));
    std::vector<ProcessModels> models_of_process(static_cast<std::size_t>(processes.count()));
    const std::vector<const models::SpeedModel*> of_unit = models.pointers();
    for (std::size_t i = 0; i < of_unit.size(); ++i) {
      const Processes::Unit& unit = processes.units()[i];
      models_of_process[static_cast<std::size_t>(unit.process)][unit.kind] = of_unit[i];
    }
    require_choices(choices_, partition);
    const std::vector<int> nodes = choices_.node_order ? processes.node_of_process() : std::vector<int>();
    const double element_bytes = gemm::element_bytes(element_);
    const models::Placement placement = processes.placement();
    partition::RectangleCost communication_s;
    if (choices_.avoid_communication) {
      if (!processes.has_models()) {
        throw InvalidArgument("--avoid-communication without --model (expected seconds to compare communication with)");
      }
      communication_s =
          rectangle_cost(problem_, element_bytes, choices_.communication, processes.platform(), placement);
    }
    const Assignment assignment = assign(problem_, models_of_process, partition, nodes, communication_s);
    // Nothing is known of a start without running it.
    const double update_s = processes.has_models() ? assignment.update_s() : 0.0, start_s = 0.0;
    Forecast forecast;
    forecast.rectangles = assignment.rectangles;
    forecast.details = details(processes, assignment);
    forecast.channel_error = processes.platform().error();
    std::vector<std::int64_t> blocks;
    std::vector<double> predicted_s;
    for (const Processes::Unit& unit : processes.units()) {
      const auto process = static_cast<std::size_t>(unit.process);
      blocks.push_back(assignment.rows[process][unit.kind] * assignment.rectangles[process].columns);
      predicted_s.push_back(assignment.unit_s[process][unit.kind]);
    }
    forecast.units = models.estimates(blocks, predicted_s);
    for (const CommunicationCost& one : communication_costs(problem_, assignment.rectangles, element_bytes,
                                                            choices_.communication, processes.platform(), placement)) {
      const Cost cost = total_cost(problem_, one.iteration_s, choices_.communication, update_s, start_s);
      ModelForecast by_model{one.model, {}, cost.communication_s, cost.total_s - cost.computation_s, cost.total_s};
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
    for (std::size_t i = 0; i < assignment.rectangles.size(); ++i) {
      const partition::Rectangle& r = assignment.rectangles[i];
      std::vector<std::string> row{fmt::format("{}", i), processes.node_name(i)};
      for (const std::int64_t number :
           {r.row, r.column, r.rows, r.columns, assignment.rows[i].host, assignment.rows[i].companion}) {
        row.push_back(fmt::format("{}", number));
      }
      for (const double time_s : {assignment.unit_s[i].host, assignment.unit_s[i].companion}) {
        row.push_back(processes.has_models() && time_s > 0.0 ? format_seconds(time_s) : "-");
      }
      table.add_row(std::move(row));
    }
    return table.text();
  }

  Problem problem_;
  ElementType element_;
  Choices choices_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster(const Problem& problem, const Options& options) {
  return std::make_unique<SummaForecaster>(problem, options);
}

}  // namespace steelyard::summa
