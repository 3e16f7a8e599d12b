#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/base/errors.hpp"
#include "core/options.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/fft2d/options.hpp"

namespace steelyard::fft2d {
namespace {

/// What a row's model has to be of, whichever planner was used.
KernelFacts row_facts(std::int64_t columns, ElementType element, bool real) {
  KernelFacts facts = MeasuredKernel(columns, real, element, {}).facts();
  facts.parameters.erase("planner");
  return facts;
}

class TransformForecaster : public Forecaster {
 public:
  TransformForecaster(const Problem& problem, const Options& options)
      : problem_(problem),
        element_(options.run.element),
        exchange_(options.exchange),
        column_models_(options.column_models) {}

  std::string problem() const override {
    return fmt::format("fft2d, {} x {} {}{}\n", problem_.rows, problem_.columns, problem_.real ? "" : "complex ",
                       element_name(element_));
  }

  Forecast forecast(Processes& processes, const std::string& partition) const override {
    // Each sends to each.
    constexpr int most_processes = 4096;
    if (processes.count() > most_processes) {
      throw InvalidArgument(
          fmt::format("{} processes, whose messages are as many as their square (expected at most {})",
                      processes.count(), most_processes));
    }
    const Problem& problem = problem_;
    const partition::Algorithm& algorithm = partition::find_algorithm(partition);
    const KernelFacts facts = row_facts(problem.columns, element_, problem.real);
    const SpeedModels rows = processes.speed_models(facts, algorithm);
    const SpeedModels columns = column_models(processes, problem, algorithm);
    const ExchangeChoice exchange = exchange_.choice(processes.nodes());
    const std::int64_t complex_bytes = element_ == ElementType::float64 ? 16 : 8;
    const auto point_bytes = static_cast<double>(complex_bytes);
    const Assignment assignment = assign(problem, rows.pointers(), columns.pointers(), partition, complex_bytes);
    const std::vector<int> process_of_unit = processes.process_of_unit();
    const PassPlans plans = plan_passes(problem, assignment.shares(), process_of_unit, exchange);
    TransformCost kernels;
    kernels.rows.batches = kernels.columns.batches = exchange.parts();
    if (processes.has_models()) {
      kernels.rows = kernel_cost(process_of_unit, assignment.rows.predicted_s, exchange);
      kernels.columns = kernel_cost(process_of_unit, assignment.columns.predicted_s, exchange);
    }
    if (const double bytes_per_s = processes.platform().memory_bytes_per_s(); bytes_per_s > 0.0) {
      std::vector<double> slowdowns;
      for (const Processes::Unit& unit : processes.units()) slowdowns.push_back(unit.slowdown);
      const double of_unit = bytes_per_s * processes.nodes() / static_cast<double>(slowdowns.size());
      kernels.unpack_s = unpack_seconds(plans.columns, point_bytes, slowdowns, of_unit);
    }
    Forecast forecast;
    forecast.distribution = assignment.rows.units;
    forecast.column_distribution = assignment.columns.units;
    forecast.channel_error = processes.platform().error();
    forecast.units = rows.estimates(assignment.rows.units, assignment.rows.predicted_s);
    const auto of_columns = columns.estimates(assignment.columns.units, assignment.columns.predicted_s);
    for (std::size_t i = 0; i < of_columns.size(); ++i) forecast.units[i] = forecast.units[i] + of_columns[i];
    const models::Placement placement = processes.placement();
    for (const models::PatternCosts& by_model : exchange_costs(plans, point_bytes, processes.platform(), placement)) {
      TransformCost cost = kernels;
      add_exchange(cost, by_model, plans, processes.platform(), placement);
      ModelForecast one{by_model.model,
                        {},
                        cost.rows.exchange_s + cost.columns.exchange_s,
                        cost.first_exchange_s() + cost.second_exchange_s(),
                        cost.total_s()};
      one.phases = {
          {"rows", cost.rows_s()}, {"first exchange", cost.first_exchange_s()}, {"columns", cost.columns_s()}};
      if (!problem.transposed) one.phases.emplace_back("second exchange", cost.second_exchange_s());
      forecast.models.push_back(one);
    }
    return forecast;
  }

 private:
  /// Models of pass 2, which are those of pass 1 where rows are alike. @throws InvalidArgument where they are missing
  SpeedModels column_models(const Processes& processes, const Problem& problem,
                            const partition::Algorithm& algorithm) const {
    const KernelFacts facts = row_facts(problem.rows, element_, false);
    if (!column_models_.empty()) return processes.speed_models(facts, algorithm, column_models_);
    const bool alike = !problem.real && problem.rows == problem.columns;
    if (!alike && processes.has_models()) {
      throw InvalidArgument(
          fmt::format("--column-model is missing (expected models of {} points, for those of --model are of {}{})",
                      problem.rows, problem.columns, problem.real ? " real numbers" : ""));
    }
    return processes.speed_models(facts, algorithm);
  }

  Problem problem_;
  ElementType element_;
  ExchangeOptions exchange_;
  std::vector<std::filesystem::path> column_models_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster(const Problem& problem, const Options& options) {
  return std::make_unique<TransformForecaster>(problem, options);
}

}  // namespace steelyard::fft2d
