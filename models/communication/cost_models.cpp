#include "models/communication/cost_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {

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
  const auto all_have = [&](const auto& has) {
    return std::ranges::all_of(channels, [&](int id) { return has(platform.channel(id)); });
  };
  std::vector<PatternCosts> costs;
  const auto add = [&](std::size_t model, const auto& cost_of) {
    PatternCosts& by_model = costs.emplace_back(PatternCosts{cost_model_names()[model], {}});
    for (const MessagePattern& pattern : patterns) by_model.time_s.push_back(cost_of(pattern));
  };
  const auto has_tables = [&](int id) { return platform.channel(id).tau_lop.has_value(); };
  if (all_have([&](const Channel& c) { return c.tau_lop && std::ranges::all_of(c.path, has_tables); })) {
    const TauLop tau_lop(platform, BeyondMeasured::proportional);
    // Longer than what overhead matters for, on the channels in use: A1 neglects overheads.
    const Evaluation evaluation{
        std::nextafter(tau_lop.overhead_matters_up_to_bytes(channels), std::numeric_limits<double>::infinity())};
    const auto add_tau_lop = [&](std::size_t model, const auto& reduced) {
      add(model, [&](const MessagePattern& pattern) {
        return cost_s(reduced(expression(pattern, placement), tau_lop, evaluation), tau_lop, evaluation);
      });
    };
    add_tau_lop(0, aligned_form);
    add_tau_lop(1, event_form);
  }
  // Without contention, by the seconds of a message on its channel.
  const auto add_serial = [&](std::size_t model, const auto& message_s) {
    add(model, [&](const MessagePattern& pattern) {
      return serial_cost_s(pattern, [&](const Message& message) {
        return message_s(platform.channel(placement.channel(message.from, message.to).channel), message.bytes);
      });
    });
  };
  if (all_have([](const Channel& c) { return c.loggp.has_value(); })) {
    add_serial(2, [](const Channel& channel, double bytes) { return channel.loggp->time_s(bytes); });
  }
  if (all_have([](const Channel& c) { return !c.hockney.empty(); })) {
    add_serial(3, [](const Channel& channel, double bytes) { return channel.time_s(bytes); });
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
