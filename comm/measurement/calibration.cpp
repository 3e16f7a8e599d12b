#include "comm/measurement/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"

namespace steelyard {
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
