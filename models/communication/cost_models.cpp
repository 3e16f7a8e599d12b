#include "models/communication/cost_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/base/errors.hpp"

namespace steelyard::models {

const std::vector<std::string>& cost_model_names() {
  static const std::vector<std::string> names{"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"};
  return names;
}

ModelledBy modelled_by(const Platform& platform, const std::set<int>& channels) {
  const auto all_have = [&](const std::function<bool(const Channel&)>& has) {
    return std::all_of(channels.begin(), channels.end(), [&](int id) { return has(platform.channel(id)); });
  };
  ModelledBy by;
  by.tau_lop = all_have([&](const Channel& channel) {
    return channel.tau_lop.has_value() && std::all_of(channel.path.begin(), channel.path.end(),
                                                      [&](int id) { return platform.channel(id).tau_lop.has_value(); });
  });
  by.loggp = all_have([](const Channel& channel) { return channel.loggp.has_value(); });
  by.hockney = all_have([](const Channel& channel) { return !channel.hockney.empty(); });
  if (!by.tau_lop && !by.loggp && !by.hockney) {
    throw InvalidArgument(
        fmt::format("{}: channels {} have no model's parameters all of them (expected those of tau-Lop, LogGP or "
                    "Hockney)",
                    platform.path.empty() ? "platform" : platform.path, fmt::join(channels, ", ")));
  }
  return by;
}

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
