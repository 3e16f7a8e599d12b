#include "models/communication/message_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// Messages of a phase by sender, each in the order of sending.
std::map<int, std::vector<Message>> by_sender(const Phase& phase) {
  std::map<int, std::vector<Message>> senders;
  for (const Message& message : phase.messages) senders[message.from].push_back(message);
  return senders;
}

/// Parts in sequence or at once; one alone as it is.
Expression joined(Expression (*join)(std::vector<Expression>), std::vector<Expression> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : join(std::move(parts));
}

}  // namespace

void require_pattern(const MessagePattern& pattern) {
  for (const Phase& phase : pattern.phases) {
    for (const Message& message : phase.messages) {
      const bool is_there = message.from >= 0 && message.from < pattern.processes && message.to >= 0 &&
                            message.to < pattern.processes && message.from != message.to;
      if (!is_there) {
        throw InvalidArgument(fmt::format("{}: message from {} to {} (expected two different ones of {} processes)",
                                          pattern.name, message.from, message.to, pattern.processes));
      }
      if (!(std::isfinite(message.bytes) && message.bytes >= 0.0)) {
        throw InvalidArgument(
            fmt::format("{}: message of {} bytes (expected a finite number >= 0)", pattern.name, message.bytes));
      }
    }
  }
}

Expression expression(const MessagePattern& pattern, const Placement& placement) {
  require_pattern(pattern);
  std::vector<Expression> phases;
  phases.reserve(pattern.phases.size());
  for (const Phase& phase : pattern.phases) {
    const auto join = phase.sends == Phase::Sends::in_order ? in_sequence : concurrently;
    std::vector<Expression> processes;
    for (const auto& [sender, messages] : by_sender(phase)) {
      std::vector<Expression> sends;
      std::map<ChannelInstance, std::vector<Expression>> received;
      sends.reserve(messages.size());
      for (const Message& message : messages) {
        const ChannelInstance from = placement.channel(message.from, message.to);
        const ChannelInstance to = placement.receiving_channel(message.from, message.to);
        sends.push_back(transmission(from, message.bytes));
        if (to != from) received[to].push_back(transmission(to, message.bytes));
      }
      std::stable_sort(sends.begin(), sends.end(),
                       [](const Expression& a, const Expression& b) { return a.channel < b.channel; });
      processes.push_back(joined(join, std::move(sends)));
      for (auto& [link, transmissions] : received) processes.push_back(joined(join, std::move(transmissions)));
    }
    phases.push_back(joined(concurrently, std::move(processes)));
  }
  return joined(in_sequence, std::move(phases));
}

double serial_cost_s(const MessagePattern& pattern, const std::function<double(const Message&)>& message_s) {
  require_pattern(pattern);
  double seconds = 0.0;
  for (const Phase& phase : pattern.phases) {
    double longest_s = 0.0;
    for (const auto& [sender, messages] : by_sender(phase)) {
      double sum_s = 0.0;
      for (const Message& message : messages) sum_s += message_s(message);
      longest_s = std::max(longest_s, sum_s);
    }
    seconds += longest_s;
  }
  return seconds;
}

}  // namespace steelyard::models
