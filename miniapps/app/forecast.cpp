#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <span>

#include "core/base/errors.hpp"
#include "models/communication/pattern_costs.hpp"

namespace steelyard {

Forecast forecast_steps(const Processes& processes, const std::string& partition, const KernelFacts& kernel,
                        std::int64_t total, const std::optional<models::MessagePattern>& exchange, std::int64_t steps) {
  if (!exchange && !processes.has_models()) {
    throw InvalidArgument(
        fmt::format("--model is missing (expected speed models, for {} sends no messages)", kernel.app));
  }
  const partition::Algorithm& algorithm = partition::find_algorithm(partition);
  const auto models = processes.speed_models(kernel, algorithm);
  const partition::Distribution slices = algorithm.distribute(total, pointers_to(models));
  const double count = static_cast<double>(steps);
  const double computation_s = processes.has_models() ? count * slices.makespan_s() : 0.0;
  Forecast forecast;
  forecast.distribution = slices.units;
  if (!exchange) {
    forecast.models = {{"no messages", {{"computation", computation_s}}, 0.0, computation_s}};
    return forecast;
  }
  for (const models::PatternCosts& costs :
       models::pattern_costs(std::span(&*exchange, 1), processes.platform(), processes.placement())) {
    const double communication_s = count * costs.time_s.front();
    ModelForecast one{costs.model, {}, communication_s, computation_s + communication_s};
    if (processes.has_models()) one.phases.emplace_back("computation", computation_s);
    one.phases.emplace_back("communication", communication_s);
    forecast.models.push_back(one);
  }
  return forecast;
}

}  // namespace steelyard
