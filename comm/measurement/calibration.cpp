#include "comm/measurement/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
namespace {

/// Ranks of each node.
std::vector<std::vector<int>> ranks_of_nodes(const Nodes& nodes) {
  std::vector<std::vector<int>> ranks(static_cast<std::size_t>(nodes.count()));
  for (std::size_t rank = 0; rank < nodes.node_of_rank.size(); ++rank) {
    ranks[static_cast<std::size_t>(nodes.node_of_rank[rank])].push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// 2, 3, 4, 6, 8, 12, … up to and including `most`.
std::vector<int> ring_sizes(int most, bool only_even) {
  std::set<int> sizes;
  for (int power = 2; power <= most; power *= 2) {
    sizes.insert(power);
    if (power * 3 / 2 <= most) sizes.insert(power * 3 / 2);
  }
  if (most >= 2) sizes.insert(most);
  if (only_even) std::erase_if(sizes, [](int size) { return size % 2 != 0; });
  return {sizes.begin(), sizes.end()};
}

class Planner {
 public:
  Planner(const Nodes& nodes, const std::vector<NodeFacts>& facts, int most_concurrency)
      : hosts_(nodes.hosts), facts_(facts), ranks_(ranks_of_nodes(nodes)), most_concurrency_(most_concurrency) {}

  CalibrationPlan plan() {
    std::vector<std::string> kinds;
    for (const NodeFacts& node : facts_) {
      if (std::find(kinds.begin(), kinds.end(), node.kind) == kinds.end()) kinds.push_back(node.kind);
    }
    for (const std::string& kind : kinds) add_shared_memory(kind);
    for (std::size_t a = 0; a < kinds.size(); ++a) {
      for (std::size_t b = a; b < kinds.size(); ++b) add_network(kinds[a], kinds[b]);
    }
    if (plan_.channels.empty()) {
      throw InvalidArgument(fmt::format("nothing to measure: {}",
                                        plan_.refused.empty() ? "there is one rank (expected at least two)"
                                                              : fmt::format("{}", fmt::join(plan_.refused, "; "))));
    }
    return std::move(plan_);
  }

 private:
  void add_shared_memory(const std::string& kind) {
    const std::string name = "shared memory";
    for (std::size_t node = 0; node < ranks_.size(); ++node) {
      const auto ranks = static_cast<int>(ranks_[node].size());
      if (facts_[node].kind != kind || ranks < 2) continue;
      const int most =
          limit(name, std::min(ranks, facts_[node].cores), ranks > facts_[node].cores ? node : ranks_.size());
      if (most < 2) return;
      add(name, models::Channel::Scope::node, {kind, kind}, ranks_[node], ring_sizes(most, false));
      return;
    }
  }

  void add_network(const std::string& one, const std::string& other) {
    const std::string name = "network";
    for (std::size_t a = 0; a < ranks_.size(); ++a) {
      for (std::size_t b = 0; b < ranks_.size(); ++b) {
        if (a == b || facts_[a].kind != one || facts_[b].kind != other) continue;
        const std::size_t pairs = std::min(ranks_[a].size(), ranks_[b].size());
        const int cores = std::min(facts_[a].cores, facts_[b].cores);
        const std::size_t fewest = facts_[b].cores < facts_[a].cores ? b : a;
        const std::size_t crowded = static_cast<int>(pairs) > cores ? fewest : ranks_.size();
        const int most = limit(name, 2 * std::min(static_cast<int>(pairs), cores), crowded);
        std::vector<int> ring;
        for (std::size_t i = 0; i < pairs; ++i) {
          ring.push_back(ranks_[a][i]);
          ring.push_back(ranks_[b][i]);
        }
        add(name, models::Channel::Scope::network, {one, other}, ring, ring_sizes(most, true));
        return;
      }
    }
  }

  /// The largest ring, where the ranks and cores allow `most`. @param crowded node with fewer cores than ranks, if any
  int limit(const std::string& name, int most, std::size_t crowded) {
    const bool is_crowded = crowded < ranks_.size();
    const std::string reason =
        is_crowded ? fmt::format("{} has {} core{} for {} ranks", hosts_[crowded], facts_[crowded].cores,
                                 facts_[crowded].cores == 1 ? "" : "s", ranks_[crowded].size())
                   : "there are no more ranks";
    if (most_concurrency_ > most) {
      throw InvalidArgument(fmt::format("concurrency {} in {} (expected at most {}: {})", most_concurrency_, name,
                                        std::max(1, most), reason));
    }
    if (most_concurrency_ > 0) return most_concurrency_;
    if (is_crowded) {
      const std::string what = most < 2 ? name : fmt::format("{} beyond concurrency {}", name, most);
      plan_.refused.push_back(fmt::format("{}: {}", what, reason));
    }
    return most;
  }

  void add(const std::string& name, models::Channel::Scope scope, std::vector<std::string> between,
           std::vector<int> ranks, std::vector<int> concurrencies) {
    ChannelPlan channel;
    channel.channel.name = name;
    channel.channel.scope = scope;
    channel.channel.between = std::move(between);
    channel.ranks = std::move(ranks);
    channel.concurrencies = std::move(concurrencies);
    plan_.channels.push_back(std::move(channel));
  }

  const std::vector<std::string>& hosts_;
  const std::vector<NodeFacts>& facts_;
  std::vector<std::vector<int>> ranks_;
  int most_concurrency_;
  CalibrationPlan plan_;
};

}  // namespace

CalibrationPlan plan_calibration(const Nodes& nodes, const std::vector<NodeFacts>& facts, int most_concurrency) {
  if (facts.size() != static_cast<std::size_t>(nodes.count())) {
    throw InvalidArgument(fmt::format("facts about {} of {} nodes (expected all)", facts.size(), nodes.count()));
  }
  return Planner(nodes, facts, most_concurrency).plan();
}

namespace {

using models::Channel;
using models::Platform;

bool joins_same(const Channel& a, const Channel& b) {
  return a.scope == b.scope && a.name == b.name &&
         (a.between == b.between || (a.between.size() == 2 && std::equal(a.between.rbegin(), a.between.rend(),
                                                                         b.between.begin(), b.between.end())));
}

int free_id(const Platform& platform, Channel::Scope scope) {
  int id = scope == Channel::Scope::node ? 0 : 1;
  const auto is_taken = [&] {
    return std::any_of(platform.channels.begin(), platform.channels.end(),
                       [&](const Channel& channel) { return channel.id == id; });
  };
  while (is_taken()) ++id;
  return id;
}

/// Id of shared memory on nodes of a kind; -1 where there is none.
int shared_memory(const Platform& platform, const std::string& kind) {
  for (const Channel& channel : platform.channels) {
    const bool is_it =
        channel.scope == Channel::Scope::node && (channel.between.empty() || channel.between.front() == kind);
    if (is_it && channel.tau_lop) return channel.id;
  }
  return -1;
}

/// The channel with all its models.
Channel fitted(const Platform& platform, Channel channel, const models::ChannelTimes& times) {
  channel.path = {channel.id};
  if (channel.scope == Channel::Scope::node) {
    channel.path.push_back(channel.id);
    return models::fit_channel(times, channel, platform);
  }
  const int from = shared_memory(platform, channel.between.front());
  const int to = shared_memory(platform, channel.between.back());
  if (from >= 0 && to >= 0) {
    Channel buffered = channel;
    buffered.path = {from, channel.id, to};
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
  const std::size_t count = session.machine().cores().size();
  const std::string kind = fmt::format("{}, {} core{}", session.machine().processor(), count, count == 1 ? "" : "s");
  const std::vector<std::string> kinds = all_gather_text(session.comm(), kind);
  std::vector<std::string> bound = all_gather_text(session.comm(), format_cores(session.machine().bound_cores()));
  std::vector<NodeFacts> facts(static_cast<std::size_t>(session.nodes().count()));
  std::vector<std::set<int>> cores(facts.size());
  for (std::size_t rank = 0; rank < bound.size(); ++rank) {
    const auto node = static_cast<std::size_t>(session.nodes().node_of_rank[rank]);
    facts[node].kind = kinds[rank];
    for (const int core : parse_cores(bound[rank])) cores[node].insert(core);
    facts[node].cores = static_cast<int>(cores[node].size());
  }
  return facts;
}

models::Channel& put_channel(Platform& platform, Channel channel) {
  const auto same = std::find_if(platform.channels.begin(), platform.channels.end(),
                                 [&](const Channel& other) { return joins_same(channel, other); });
  channel.id = same != platform.channels.end() ? same->id : free_id(platform, channel.scope);
  if (channel.path.empty()) channel.path = {channel.id};
  if (same == platform.channels.end()) return platform.channels.emplace_back(std::move(channel));
  *same = std::move(channel);
  return *same;
}

int add_channel(Platform& platform, const ChannelPlan& plan, const models::ChannelTimes& times) {
  // Beside the platform, which an error leaves as it is.
  Platform result = platform;
  Channel& channel = put_channel(result, plan.channel);
  channel = fitted(result, channel, times);
  const int id = channel.id;
  platform = std::move(result);
  return id;
}

}  // namespace steelyard
