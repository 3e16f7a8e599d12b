#include "comm/measurement/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
namespace {

using models::Channel;
using models::Platform;

std::string count_of_cores(std::int64_t count) { return fmt::format("{} core{}", count, count == 1 ? "" : "s"); }

/// 2, 3, 4, 6, 8, 12, … up to and including `most`.
std::vector<int> ring_sizes(int most, bool only_even) {
  std::set<int> sizes{most};
  for (int power = 2; power <= most; power *= 2) {
    sizes.insert(power);
    if (power * 3 / 2 <= most) sizes.insert(power * 3 / 2);
  }
  if (only_even) std::erase_if(sizes, [](int size) { return size % 2 != 0; });
  return {sizes.begin(), sizes.end()};
}

/// A node with the ranks on it.
struct Node : NodeFacts {
  std::string host;
  std::vector<int> ranks;
};

/// Adds the channel between two nodes, or inside one, to the plan.
void plan_channel(const Node& a, const Node& b, CalibrationPlan& plan) {
  const bool is_network = &a != &b;
  ChannelPlan one;
  one.channel.name = is_network ? "network" : "shared memory";
  one.channel.scope = is_network ? Channel::Scope::network : Channel::Scope::node;
  one.channel.between = {a.kind, b.kind};
  const std::size_t ranks = std::min(a.ranks.size(), b.ranks.size());
  for (std::size_t i = 0; i < ranks; ++i) {
    one.ranks.push_back(a.ranks[i]);
    if (is_network) one.ranks.push_back(b.ranks[i]);
  }
  const Node& narrow = b.cores < a.cores ? b : a;
  const int most = std::min(static_cast<int>(ranks), narrow.cores) * (is_network ? 2 : 1);
  if (static_cast<int>(ranks) > narrow.cores) {
    plan.refused.push_back(fmt::format("{}{}: {} has {} for {} ranks", one.channel.name,
                                       most < 2 ? "" : fmt::format(" beyond concurrency {}", most), narrow.host,
                                       count_of_cores(narrow.cores), narrow.ranks.size()));
  }
  if (most < 2) return;
  one.concurrencies = ring_sizes(most, is_network);
  plan.channels.push_back(std::move(one));
}

bool joins_same(const Channel& a, const Channel& b) {
  return a.scope == b.scope && a.name == b.name &&
         (a.between == b.between ||
          std::equal(a.between.rbegin(), a.between.rend(), b.between.begin(), b.between.end()));
}

int free_id(const Platform& platform, Channel::Scope scope) {
  int id = scope == Channel::Scope::node ? 0 : 1;
  while (std::ranges::find(platform.channels, id, &Channel::id) != platform.channels.end()) ++id;
  return id;
}

/// Shared memory on nodes of a kind, with parameters of tau-Lop; null where there is none.
const Channel* shared_memory(const Platform& platform, const std::string& kind) {
  const auto found = std::ranges::find_if(platform.channels, [&](const Channel& channel) {
    return channel.scope == Channel::Scope::node && channel.tau_lop &&
           (channel.between.empty() || channel.between.front() == kind);
  });
  return found != platform.channels.end() ? &*found : nullptr;
}

/// The channel with all its models.
Channel fitted(const Platform& platform, Channel channel, const models::ChannelTimes& times) {
  channel.path = {channel.id};
  if (channel.scope == Channel::Scope::node) {
    channel.path.push_back(channel.id);
    return models::fit_channel(times, channel, platform);
  }
  const Channel* const from = shared_memory(platform, channel.between.front());
  const Channel* const to = shared_memory(platform, channel.between.back());
  if (from != nullptr && to != nullptr) {
    Channel buffered = channel;
    buffered.path = {from->id, channel.id, to->id};
    try {
      return models::fit_channel(times, buffered, platform);
    } catch (const InvalidArgument&) {
      // The message does not take that way.
    }
  }
  return models::fit_channel(times, channel, platform);
}

}  // namespace

std::vector<NodeFacts> gather_node_facts(const Session& session) {
  const std::string kind =
      fmt::format("{}, {}", session.machine().processor(), count_of_cores(std::ssize(session.machine().cores())));
  const std::vector<std::string> kinds = all_gather_text(session.comm(), kind);
  const std::vector<std::string> bound = all_gather_text(session.comm(), format_cores(session.machine().bound_cores()));
  std::vector<NodeFacts> facts(static_cast<std::size_t>(session.nodes().count()));
  std::vector<std::set<int>> cores(facts.size());
  for (std::size_t rank = 0; rank < bound.size(); ++rank) {
    const auto node = static_cast<std::size_t>(session.nodes().node_of_rank[rank]);
    for (const int core : parse_cores(bound[rank])) cores[node].insert(core);
    facts[node] = {kinds[rank], static_cast<int>(cores[node].size())};
  }
  return facts;
}

CalibrationPlan plan_calibration(const Nodes& nodes, const std::vector<NodeFacts>& facts) {
  if (facts.size() != static_cast<std::size_t>(nodes.count())) {
    throw InvalidArgument(fmt::format("facts about {} of {} nodes (expected all)", facts.size(), nodes.count()));
  }
  std::vector<std::string> kinds;
  std::vector<Node> all;
  for (const NodeFacts& node : facts) {
    if (std::ranges::find(kinds, node.kind) == kinds.end()) kinds.push_back(node.kind);
    all.push_back({node, nodes.hosts[all.size()], {}});
  }
  for (std::size_t rank = 0; rank < nodes.node_of_rank.size(); ++rank) {
    all[static_cast<std::size_t>(nodes.node_of_rank[rank])].ranks.push_back(static_cast<int>(rank));
  }
  CalibrationPlan plan;
  // The channel between nodes of two kinds, on the first ones that have ranks to measure it.
  const auto add = [&](const std::string& one, const std::string& other, bool is_network) {
    for (const Node& a : all) {
      for (const Node& b : all) {
        const bool has_ranks = is_network ? &a != &b : &a == &b && a.ranks.size() > 1;
        if (has_ranks && a.kind == one && b.kind == other) return plan_channel(a, b, plan);
      }
    }
  };
  for (const std::string& kind : kinds) add(kind, kind, false);
  for (auto one = kinds.begin(); one != kinds.end(); ++one) {
    for (auto other = one; other != kinds.end(); ++other) add(*one, *other, true);
  }
  if (!plan.channels.empty()) return plan;
  if (plan.refused.empty()) plan.refused = {"there is one rank (expected at least two)"};
  throw InvalidArgument(fmt::format("nothing to measure: {}", fmt::join(plan.refused, "; ")));
}

Channel& put_channel(Platform& platform, Channel channel) {
  const auto same =
      std::ranges::find_if(platform.channels, [&](const Channel& other) { return joins_same(channel, other); });
  const bool is_new = same == platform.channels.end();
  channel.id = is_new ? free_id(platform, channel.scope) : same->id;
  if (channel.path.empty()) channel.path = {channel.id};
  if (is_new) return platform.channels.emplace_back(std::move(channel));
  return *same = std::move(channel);
}

int add_channel(Platform& platform, const ChannelPlan& plan, const models::ChannelTimes& times) {
  Platform result = platform;
  Channel& channel = put_channel(result, plan.channel);
  channel = fitted(result, channel, times);
  const int id = channel.id;
  platform = std::move(result);
  return id;
}

}  // namespace steelyard
