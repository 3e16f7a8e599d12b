#include "models/communication/pattern_costs.hpp"

#include <functional>
#include <set>

#include "models/communication/cost_models.hpp"

namespace steelyard::models {

std::vector<PatternCosts> pattern_costs(std::span<const MessagePattern> patterns, const Platform& platform,
                                        const Placement& placement) {
  std::set<int> channels;
  for (const MessagePattern& pattern : patterns) {
    for (const Phase& phase : pattern.phases) {
      for (const Message& message : phase.messages) {
        channels.insert(placement.channel(message.from, message.to).channel);
      }
    }
  }
  std::vector<PatternCosts> costs;
  if (channels.empty()) {
    for (const std::string& name : cost_model_names())
      costs.push_back({name, std::vector<double>(patterns.size(), 0.0)});
    return costs;
  }
  const auto models = cost_models<MessagePattern>(
      platform, placement, channels,
      [](const MessagePattern& messages, const Placement& at) { return expression(messages, at); },
      [](const MessagePattern& messages, const std::function<double(const Message&)>& message_s) {
        return serial_cost_s(messages, message_s);
      });
  for (const auto& model : models) {
    PatternCosts& by_model = costs.emplace_back();
    by_model.model = model.name;
    for (const MessagePattern& pattern : patterns) by_model.time_s.push_back(model.cost_s(pattern));
  }
  return costs;
}

}  // namespace steelyard::models
