#include "models/communication/cost_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

}  // namespace steelyard::models
