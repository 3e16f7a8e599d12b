#include "models/communication/message_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// Id of the channel between nodes of two kinds; -1: there is none.
int find_channel(const Platform& platform, Channel::Scope scope, const std::string& one, const std::string& other) {
  int any = -1;
  for (const Channel& channel : platform.channels) {
    if (channel.scope != scope) continue;
    const std::vector<std::string>& kinds = channel.between;
    if (kinds.empty()) {
      if (any < 0) any = channel.id;
    } else if ((kinds.front() == one && kinds.back() == other) || (kinds.front() == other && kinds.back() == one)) {
      return channel.id;
    }
  }
  return any;
}

void require_bytes(const std::string& pattern, double bytes) {
  if (std::isfinite(bytes) && bytes >= 0.0) return;
  throw InvalidArgument(fmt::format("{}: message of {} bytes (expected a finite number >= 0)", pattern, bytes));
}

void require_pattern(const MessagePattern& pattern) {
  for (const Phase& phase : pattern.phases) {
    for (const Message& message : phase.messages) {
      const bool is_there = message.from >= 0 && message.from < pattern.processes && message.to >= 0 &&
                            message.to < pattern.processes && message.from != message.to;
      if (!is_there) {
        throw InvalidArgument(fmt::format("{}: message from {} to {} (expected two different ones of {} processes)",
                                          pattern.name, message.from, message.to, pattern.processes));
      }
      require_bytes(pattern.name, message.bytes);
    }
  }
}

/// Parts in sequence or at once; one alone as it is.
Expression joined(Expression (*join)(std::vector<Expression>), std::vector<Expression> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : join(std::move(parts));
}

}  // namespace

Placement::Placement(const Platform& platform, std::vector<int> node_of_process,
                     const std::vector<std::string>& kind_of_node, Contention contention)
    : node_of_process_(std::move(node_of_process)), contention_(contention) {
  if (node_of_process_.empty()) throw InvalidArgument("placement of no processes");
  for (const int node : node_of_process_) {
    if (node < 0) throw InvalidArgument(fmt::format("a process on node {} (expected 0, 1, …)", node));
    if (!kind_of_node.empty() && static_cast<std::size_t>(node) >= kind_of_node.size()) {
      throw InvalidArgument(
          fmt::format("a process on node {} (expected 0 … {}, whose kinds are known)", node, kind_of_node.size() - 1));
    }
  }
  for (const std::string& kind : kind_of_node) {
    const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
    kind_of_node_.push_back(static_cast<int>(known - kinds_.begin()));
    if (known == kinds_.end()) kinds_.push_back(kind);
  }
  if (kinds_.empty()) {
    // Whatever the platform's nodes are: if all are of one kind, its channels are meant.
    kinds_.push_back(platform.nodes.empty() ? "" : platform.nodes.front().kind);
  }
  for (const std::string& one : kinds_) {
    within_.push_back(find_channel(platform, Channel::Scope::node, one, one));
    std::vector<int>& row = between_.emplace_back();
    for (const std::string& other : kinds_) row.push_back(find_channel(platform, Channel::Scope::network, one, other));
  }
}

ChannelInstance Placement::channel(int from, int to) const {
  if (from < 0 || from >= processes() || to < 0 || to >= processes()) {
    throw InvalidArgument(fmt::format("message from process {} to {} (expected 0 … {})", from, to, processes() - 1));
  }
  const int from_node = node_of_process_[static_cast<std::size_t>(from)];
  const int to_node = node_of_process_[static_cast<std::size_t>(to)];
  const auto from_kind = static_cast<std::size_t>(kind(from_node));
  const auto to_kind = static_cast<std::size_t>(kind(to_node));
  const bool is_inside = from_node == to_node;
  const int id = is_inside ? within_[from_kind] : between_[from_kind][to_kind];
  if (id < 0) {
    const std::string other = is_inside ? "" : fmt::format(" and '{}'", kinds_[to_kind]);
    throw InvalidArgument(fmt::format("no channel {} nodes of kind '{}'{} on this platform",
                                      is_inside ? "inside" : "between", kinds_[from_kind], other));
  }
  return {id, instance_of(from)};
}

Expression expression(const MessagePattern& pattern, const Placement& placement) {
  require_pattern(pattern);
  std::vector<Expression> phases;
  for (const Phase& phase : pattern.phases) {
    const auto join = phase.sends == Phase::Sends::in_order ? in_sequence : concurrently;
    std::map<int, std::vector<Message>> senders;
    for (const Message& message : phase.messages) senders[message.from].push_back(message);
    std::vector<Expression> processes;
    for (const auto& [sender, messages] : senders) {
      std::vector<Expression> sends;
      std::map<ChannelInstance, std::vector<Expression>> received;
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
    std::map<int, double> sums_s;  // by sender
    double longest_s = 0.0;
    for (const Message& message : phase.messages) {
      longest_s = std::max(longest_s, sums_s[message.from] += message_s(message));
    }
    seconds += longest_s;
  }
  return seconds;
}

namespace {

MessagePattern pattern(const char* name, int processes, double bytes, std::vector<Phase> phases) {
  if (processes < 1) throw InvalidArgument(fmt::format("{} of {} processes (expected at least 1)", name, processes));
  require_bytes(name, bytes);
  return {name, processes, std::move(phases)};
}

}  // namespace

MessagePattern binomial_broadcast(int processes, double bytes) {
  std::vector<Phase> phases;
  for (int have = 1; have < processes; have *= 2) {
    Phase& phase = phases.emplace_back();
    for (int from = 0; from < std::min(have, processes - have); ++from) {
      phase.messages.push_back({from, from + have, bytes});
    }
  }
  return pattern("binomial broadcast", processes, bytes, std::move(phases));
}

MessagePattern ring_allgather(int processes, double bytes) {
  Phase phase;
  phase.sends = Phase::Sends::at_once;
  for (int from = 0; from < processes; ++from) phase.messages.push_back({from, (from + 1) % processes, bytes});
  const auto phases = static_cast<std::size_t>(std::max(0, processes - 1));
  return pattern("ring allgather", processes, bytes, std::vector<Phase>(phases, phase));
}

MessagePattern recursive_doubling_allreduce(int processes, double bytes) {
  int power = 1;
  while (power <= processes / 2) power *= 2;
  const int folded = processes - power;
  // Of the first 2 `folded` processes the odd ones give their vectors away beforehand and get the sum afterwards.
  const auto process = [folded](int rank) { return rank < folded ? 2 * rank : rank + folded; };
  std::vector<Phase> phases;
  Phase before, after;
  for (int rank = 0; rank < folded; ++rank) {
    before.messages.push_back({2 * rank + 1, 2 * rank, bytes});
    after.messages.push_back({2 * rank, 2 * rank + 1, bytes});
  }
  if (folded > 0) phases.push_back(before);
  for (int bit = 1; bit < power; bit *= 2) {
    Phase& phase = phases.emplace_back();
    phase.sends = Phase::Sends::at_once;
    for (int rank = 0; rank < power; ++rank) phase.messages.push_back({process(rank), process(rank ^ bit), bytes});
  }
  if (folded > 0) phases.push_back(after);
  return pattern("recursive doubling allreduce", processes, bytes, std::move(phases));
}

MessagePattern halo_1d(int processes, double bytes) {
  Phase phase;
  phase.sends = Phase::Sends::at_once;
  for (int process = 0; process < processes; ++process) {
    if (process > 0) phase.messages.push_back({process, process - 1, bytes});
    if (process + 1 < processes) phase.messages.push_back({process, process + 1, bytes});
  }
  return pattern("1D halo exchange", processes, bytes, {phase});
}

}  // namespace steelyard::models
