#include "models/communication/cost_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {
namespace {

/// Seconds of a pattern by a model.
using PatternCost = std::function<double(const MessagePattern&)>;

/// The models of cost_model_names() in their order, empty where channels lack parameters.
std::vector<PatternCost> cost_models(const Platform& platform, const Placement& placement,
                                     const std::set<int>& channels) {
  const auto all_have = [&](const auto& has) {
    return std::ranges::all_of(channels, [&](int id) { return has(platform.channel(id)); });
  };
  const auto has_tables = [&](int id) { return platform.channel(id).tau_lop.has_value(); };
  const auto channel = [&](const Message& message) -> const Channel& {
    return platform.channel(placement.channel(message.from, message.to).channel);
  };
  std::vector<PatternCost> models(cost_model_names().size());
  if (all_have([&](const Channel& c) { return c.tau_lop && std::ranges::all_of(c.path, has_tables); })) {
    const TauLop tau_lop(platform, BeyondMeasured::proportional);
    // Longer than what overhead matters for, on the channels in use: A1 neglects overheads.
    const Evaluation evaluation{
        std::nextafter(tau_lop.overhead_matters_up_to_bytes(channels), std::numeric_limits<double>::infinity())};
    const auto by_tau_lop = [=, &placement](const auto& reduced) {
      return [=, &placement](const MessagePattern& pattern) {
        return cost_s(reduced(expression(pattern, placement), tau_lop, evaluation), tau_lop, evaluation);
      };
    };
    models[0] = by_tau_lop(aligned_form);
    models[1] = by_tau_lop(event_form);
  }
  if (all_have([](const Channel& c) { return c.loggp.has_value(); })) {
    models[2] = [=](const MessagePattern& pattern) {
      return serial_cost_s(pattern, [&](const Message& one) { return channel(one).loggp->time_s(one.bytes); });
    };
  }
  if (all_have([](const Channel& c) { return !c.hockney.empty(); })) {
    models[3] = [=](const MessagePattern& pattern) {
      return serial_cost_s(pattern, [&](const Message& one) { return channel(one).time_s(one.bytes); });
    };
  }
  return models;
}

}  // namespace

const std::vector<std::string>& cost_model_names() {
  static const std::vector<std::string> names{"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"};
  return names;
}

std::vector<PatternCosts> pattern_costs(std::span<const MessagePattern> patterns, const Platform& platform,
                                        const Placement& placement) {
  std::set<int> channels;
  for (const MessagePattern& pattern : patterns) {
    for (const Phase& phase : pattern.phases) {
      for (const auto& [from, to, bytes] : phase.messages) channels.insert(placement.channel(from, to).channel);
    }
  }
  const std::vector<PatternCost> models = cost_models(platform, placement, channels);
  std::vector<PatternCosts> costs;
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!models[i]) continue;
    PatternCosts& by_model = costs.emplace_back();
    by_model.model = cost_model_names()[i];
    for (const MessagePattern& pattern : patterns) by_model.time_s.push_back(models[i](pattern));
  }
  if (costs.empty()) {
    throw InvalidArgument(
        fmt::format("{}: channels {} have no model's parameters all of them (expected those of tau-Lop, LogGP or "
                    "Hockney)",
                    platform.path.empty() ? "platform" : platform.path, fmt::join(channels, ", ")));
  }
  return costs;
}

double loggph_cost_s(const Expression& expression, const Platform& platform, double bytes_per_unit) {
  if (expression.kind == Expression::Kind::transmission) {
    const Channel& level = platform.channel(expression.channel.channel);
    if (!level.loggp) {
      throw InvalidArgument(fmt::format("channel {} ({}) has no LogGP parameters", level.id, level.name));
    }
    return level.loggp->time_s(bytes_per_unit * expression.size);
  }
  double sum_s = 0.0, longest_s = 0.0;
  for (const Expression& part : expression.parts) {
    const double part_s = loggph_cost_s(part, platform, bytes_per_unit);
    sum_s += part_s;
    longest_s = std::max(longest_s, part_s);
  }
  return expression.kind == Expression::Kind::sequence ? sum_s : longest_s;
}

}  // namespace steelyard::models
