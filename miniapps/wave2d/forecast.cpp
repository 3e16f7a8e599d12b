#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/options.hpp"
#include "miniapps/app/run_text.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "miniapps/wave2d/options.hpp"
#include "models/communication/pattern_costs.hpp"

namespace steelyard::wave2d {
namespace {

class WaveForecaster : public Forecaster {
 public:
  WaveForecaster(const Problem& problem, const Options& options)
      : problem_(problem),
        element_(options.run.element),
        time_tile_is_free_(options.time_tile == 0),
        time_tile_(std::max(1, options.time_tile)),
        steps_(options.run.steps) {}

  std::string problem() const override {
    return fmt::format("wave2d, {} x {} {}, order {}: {} steps, {} per pass\n", problem_.rows, problem_.columns,
                       element_name(element_), problem_.order, steps_, time_tile_);
  }

  Forecast forecast(Processes& processes, const std::string& partition) const override {
    Problem problem = problem_;
    problem.rows *= times_;
    const MeasuredKernel kernel(problem, element_, time_tile_);
    const SpeedModels models =
        processes.speed_models(kernel.facts(), partition::find_algorithm(row_algorithm(partition)));
    const Assignment assignment = assign(problem, models.pointers(), partition);
    const std::vector<int> process_of_unit = processes.process_of_unit();
    PassCost pass;
    if (processes.has_models()) {
      // Models of whole passes do not tell the border's part.
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
    forecast.units = models.estimates(assignment.shares(problem), assignment.pass_s);
    forecast.channel_error = processes.platform().error();
    for (const models::PatternCosts& exchange :
         models::pattern_costs(std::span(&pattern, 1), processes.platform(), processes.placement())) {
      pass.exchange_s = exchange.time_s.front();
      const double exposed_s = passes * std::max(0.0, pass.total_s() - pass.kernels_s());
      ModelForecast one{exchange.model, {}, passes * pass.exchange_s, exposed_s, passes * pass.total_s()};
      if (processes.has_models()) one.phases.emplace_back("computation", passes * pass.kernels_s());
      one.phases.emplace_back("communication", one.communication_s);
      forecast.models.push_back(one);
    }
    return forecast;
  }

  std::string adopt(const models::FpmFile& model) override {
    const auto found = model.parameters.find("time_tile");
    if (time_tile_is_free_ && found != model.parameters.end()) time_tile_ = static_cast<int>(found->second);
    return fmt::format("{} per pass", counted(time_tile_, "step"));
  }

  bool has_weak_scaling() const override { return true; }

 private:
  Problem problem_;
  ElementType element_;
  bool time_tile_is_free_;
  int time_tile_;
  std::int64_t steps_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster(const Problem& problem, const Options& options) {
  return std::make_unique<WaveForecaster>(problem, options);
}

}  // namespace steelyard::wave2d
