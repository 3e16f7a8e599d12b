#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/options.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/options.hpp"

namespace steelyard::wave2d {
namespace {

class WaveForecaster : public Forecaster {
 public:
  void add_options(CLI::App& parser) override {
    add_grid_options(parser, grid_, 2048);
    parser.add_option("--steps", steps_, "Time steps")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
        ->type_name("N")
        ->capture_default_str();
    parser.add_option("--time-tile", time_tile_, "Steps per pass and per exchange; that of the models")
        ->check(CLI::Range(1, most_steps_per_pass))
        ->type_name("K")
        ->capture_default_str();
    add_order_option(parser, problem_.order);
    add_element_option(parser, element_);
  }

  std::string problem() const override {
    return fmt::format("wave2d, {} x {} {}, order {}: {} steps, {} per pass\n", grid_.rows, grid_.columns,
                       element_name(element_), problem_.order, steps_, time_tile_);
  }

  Forecast forecast(const Processes& processes, const std::string& partition) const override {
    Problem problem = problem_;
    problem.rows = grid_.rows * times_;
    problem.columns = grid_.columns;
    KernelFacts facts;
    facts.app = "wave2d";
    facts.element = element_name(element_);
    facts.parameters["columns"] = static_cast<double>(problem.columns);
    facts.parameters["order"] = problem.order;
    facts.parameters["time_tile"] = time_tile_;
    const auto models = processes.speed_models(facts, partition::find_algorithm(row_algorithm(partition)));
    const Assignment assignment = assign(problem, pointers_to(models), partition);
    const std::vector<int> process_of_unit = processes.process_of_unit();
    PassCost pass;  // without seconds for starting, of which nothing is known
    if (processes.has_models()) {
      // Nor do models of whole passes tell the border's part.
      std::vector<UnitTimes> units;
      for (const double pass_s : assignment.pass_s) units.push_back({0.0, 0.0, 0.0, pass_s});
      pass = pass_cost(process_of_unit, units);
    }
    const double passes = static_cast<double>(steps_) / time_tile_;
    const models::MessagePattern pattern =
        exchange_pattern(halo_messages(problem, assignment.rectangles, time_tile_), process_of_unit, processes.count(),
                         element_ == ElementType::float64 ? 8.0 : 4.0);
    Forecast forecast;
    forecast.rectangles = assignment.rectangles;
    for (const ExchangeCost& exchange : exchange_costs(pattern, processes.platform(), processes.placement())) {
      pass.exchange_s = exchange.time_s;
      ModelForecast one{exchange.model, {}, passes * exchange.time_s, passes * pass.total_s()};
      if (processes.has_models()) one.phases.emplace_back("computation", passes * pass.kernels_s());
      one.phases.emplace_back("communication", one.communication_s);
      forecast.models.push_back(one);
    }
    return forecast;
  }

  bool enlarge(std::int64_t times) override {
    times_ = times;
    return true;
  }

 private:
  GridOptions grid_;
  Problem problem_;
  std::int64_t steps_ = 100;
  int time_tile_ = 1;
  ElementType element_ = ElementType::float64;
  std::int64_t times_ = 1;  ///< as many rows as the user named
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster() { return std::make_unique<WaveForecaster>(); }

}  // namespace steelyard::wave2d
