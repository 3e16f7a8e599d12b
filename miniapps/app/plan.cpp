#include "miniapps/app/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "models/communication/cost_models.hpp"
#include "models/fpm_file.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {
namespace {

MessageFacts message_facts(const models::MessagePattern& pattern, double footprint_bytes) {
  MessageFacts facts;
  facts.footprint_bytes = footprint_bytes;
  for (const models::Phase& phase : pattern.phases) {
    for (const models::Message& message : phase.messages) {
      facts.smallest_bytes = facts.largest_bytes > 0.0 ? std::min(facts.smallest_bytes, message.bytes) : message.bytes;
      facts.largest_bytes = std::max(facts.largest_bytes, message.bytes);
    }
  }
  return facts;
}

}  // namespace

partition::Algorithm Resources::algorithm(const std::string& name) const {
  partition::Algorithm algorithm = partition::find_algorithm(name);
  if (!options_.kind.empty()) algorithm.model_kind = models::find_model_kind(options_.kind).name;
  return algorithm;
}

SpeedModels Resources::speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm,
                                    const std::vector<std::filesystem::path>& files) {
  if (files.empty()) return models_without_files(kernel, total, algorithm);
  std::optional<SpeedModels> models;
  const std::vector<double> slot_slowdowns = slowdowns();
  on_all_ranks(
      [&] { models = read_speed_models(files, kernel.facts(), slots_, slot_slowdowns, this->algorithm(algorithm)); });
  return std::move(*models);
}

std::optional<double> Resources::model_parameter(const std::string& name) const {
  if (options_.models.empty()) return std::nullopt;
  models::FpmFile first;
  on_all_ranks([&] { first = models::read_fpm_file(options_.models.front()); });
  const auto found = first.parameters.find(name);
  return found == first.parameters.end() ? 1.0 : found->second;
}

std::vector<models::Estimate> slot_estimates(const Plan& plan) {
  if (plan.models.empty() || plan.models.front().files.empty()) return {};
  std::vector<models::Estimate> slots(plan.unit_s.size());
  const auto add_phase = [&](const KeptModels& models, const std::vector<std::int64_t>& units, double share) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto size = static_cast<double>(units[i]);
      slots[i] = slots[i] + models::estimate(models.files[i], size, share * plan.unit_s[i]);
    }
  };
  const double share = plan.column_distribution.empty() ? 1.0 : 0.5;
  add_phase(plan.models.front(), plan.distribution, share);
  if (share < 1.0) add_phase(plan.models.back(), plan.column_distribution, share);
  return slots;
}

models::Estimate estimate(const Plan& plan, const ModelForecast& by_model, double channel_error) {
  return models::run_estimate(slot_estimates(plan), by_model.total_s, by_model.exposed_s, channel_error);
}

std::vector<PhaseTime> beside_prediction(const Plan& plan,
                                         const std::vector<std::pair<std::string, double>>& measured_s) {
  std::vector<PhaseTime> phases;
  for (const auto& [name, seconds] : measured_s) {
    phases.push_back({name, seconds, std::nullopt});
    if (plan.by_model.empty()) continue;
    for (const auto& [predicted, predicted_s] : plan.by_model.front().phases) {
      if (predicted == name) phases.back().predicted_s = predicted_s;
    }
  }
  return phases;
}

Plan plan_steps(Resources& on, const MeasurableKernel& kernel, std::int64_t total, std::int64_t steps,
                const PhaseNames& names, const std::optional<models::MessagePattern>& exchange,
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
  if (exchange) {
    if (const std::optional<Channels> channels = on.channels(message_facts(*exchange, footprint_bytes))) {
      on.on_all_ranks(
          [&] { costs = models::pattern_costs(std::span(&*exchange, 1), channels->platform, channels->placement); });
    }
  }
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
  return plan;
}

}  // namespace steelyard
