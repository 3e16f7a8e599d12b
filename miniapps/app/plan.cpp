#include "miniapps/app/plan.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"

namespace steelyard {

Plan plan_steps(Resources& on, const MeasurableKernel& kernel, std::int64_t total, std::int64_t steps,
                const StepPhases& names, const std::optional<models::MessagePattern>& exchange,
                double footprint_bytes) {
  if (!exchange && !on.has_seconds()) {
    throw InvalidArgument(
        fmt::format("--model is missing (expected speed models, for {} sends no messages)", kernel.facts().app));
  }
  const SpeedModels models = on.speed_models(kernel, total, on.partition());
  partition::Distribution slices;
  on.on_all_ranks([&] { slices = partition::find_algorithm(on.partition()).distribute(total, models.pointers()); });
  Plan plan;
  plan.distribution = slices.units;
  plan.unit_s = slices.predicted_s;
  plan.models = {{"", models.files()}};
  std::vector<models::PatternCosts> costs;
  if (exchange) costs = on.exchange_costs(std::span(&*exchange, 1), footprint_bytes);
  if (costs.empty()) costs = {{"no messages", {0.0}}};
  const double count = static_cast<double>(steps);
  const double kernels_s = on.has_seconds() ? count * slices.makespan_s() : 0.0, start_s = on.start_s();
  for (const models::PatternCosts& cost : costs) {
    const double communication_s = count * cost.time_s.front();
    ModelForecast one{cost.model, {}, communication_s, communication_s, start_s + kernels_s + communication_s};
    if (on.has_seconds()) one.phases.emplace_back(names.kernel, kernels_s);
    if (exchange) one.phases.emplace_back(names.exchange, communication_s);
    plan.by_model.push_back(one);
  }
  plan.time_s = plan.by_model.front().total_s;
  plan.exchange_s = plan.by_model.front().exposed_s;
  return plan;
}

}  // namespace steelyard
