#include "miniapps/wave2d/cost.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>

#include "models/communication/cost_models.hpp"

namespace steelyard::wave2d {

models::MessagePattern exchange_pattern(const std::vector<HaloMessage>& messages, std::span<const int> rank_of_unit,
                                        int ranks, double element_bytes) {
  models::MessagePattern pattern{"halo exchange", ranks, {{{}, models::Phase::Sends::at_once}}};
  for (const HaloMessage& message : messages) {
    const int from = rank_of_unit[static_cast<std::size_t>(message.from)];
    const int to = rank_of_unit[static_cast<std::size_t>(message.to)];
    if (from == to) continue;
    pattern.phases.front().messages.push_back({from, to, element_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

std::vector<ExchangeCost> exchange_costs(const models::MessagePattern& pattern, const models::Platform& platform,
                                         const models::Placement& placement) {
  std::vector<ExchangeCost> costs;
  std::set<int> channels;
  for (const models::Phase& phase : pattern.phases) {
    for (const models::Message& message : phase.messages) {
      channels.insert(placement.channel(message.from, message.to).channel);
    }
  }
  if (channels.empty()) {
    for (const std::string& name : models::cost_model_names()) costs.push_back({name, 0.0});
    return costs;
  }
  const auto models = models::cost_models<models::MessagePattern>(
      platform, placement, channels,
      [](const models::MessagePattern& messages, const models::Placement& at) {
        return models::expression(messages, at);
      },
      [](const models::MessagePattern& messages, const std::function<double(const models::Message&)>& message_s) {
        return models::serial_cost_s(messages, message_s);
      });
  for (const auto& model : models) costs.push_back({model.name, model.cost_s(pattern)});
  return costs;
}

double driving_seconds(std::span<const int> rank_of_unit, std::span<const double> pass_s) {
  double seconds = 0.0;
  for (std::size_t i = 0; i < pass_s.size(); ++i) {
    const bool drives = i == 0 || rank_of_unit[i] != rank_of_unit[i - 1];
    if (drives) seconds = std::max(seconds, pass_s[i]);
  }
  return seconds;
}

}  // namespace steelyard::wave2d
