#include <map>
#include <numeric>
#include <set>

#include "comm/measurement/calibration.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_calibration {

using namespace steelyard::models;
using namespace steelyard::tests;
using Scope = Channel::Scope;
using Ints = std::vector<int>;

namespace {

/// Times of a channel without surprises: `latency_s` and a bandwidth that concurrent transmissions share.
ChannelTimes linear_times(double latency_s, double bandwidth_bytes_per_s) {
  ChannelTimes times;
  times.empty_s = 0.5 * latency_s;
  times.empty_synchronous_s = latency_s;
  times.eager_limit_bytes = 4096.0;
  times.loggp.send_overhead_s = times.loggp.receive_overhead_s = 0.1 * latency_s;
  for (double bytes = 8.0; bytes <= 65536.0; bytes *= 2.0) {
    times.one_way.push_back({bytes, latency_s + bytes / bandwidth_bytes_per_s});
    times.loggp.trains.push_back({bytes, 0.3 * latency_s + bytes / bandwidth_bytes_per_s});
    times.rings[2].push_back({bytes, latency_s + 2.0 * bytes / bandwidth_bytes_per_s});
  }
  return times;
}

const ChannelTimes fast = linear_times(1e-6, 1e10);
const ChannelTimes slow = linear_times(2e-5, 1e9);

ChannelPlan plan(Scope scope, const std::string& from, const std::string& to) {
  ChannelPlan plan;
  plan.channel.name = scope == Scope::node ? "shared memory" : "network";
  plan.channel.scope = scope;
  plan.channel.between = {from, to};
  return plan;
}
ChannelPlan shared_memory(const std::string& kind) { return plan(Scope::node, kind, kind); }
ChannelPlan network(const std::string& from, const std::string& to) { return plan(Scope::network, from, to); }

/// A channel costs what was measured of it.
void check_costs(const Platform& platform, int id, const ChannelTimes& times) {
  const TauLop model(platform);
  for (std::size_t i = 0; i < times.one_way.size(); ++i) {
    const double bytes = times.one_way[i].bytes;
    CAPTURE(id, bytes);
    CHECK_THAT(model.transmission_s(id, bytes), WithinRel(times.one_way[i].time_s, 1e-9));
    CHECK_THAT(model.transmission_s(id, bytes, 2), WithinRel(times.rings.at(2)[i].time_s, 1e-9));
  }
}

/// Everything of each channel as text, by id.
std::map<int, std::string> texts_of(const Platform& platform) {
  std::map<int, std::string> texts;
  for (const Channel& channel : platform.channels) {
    Platform one;
    one.channels.push_back(channel);
    texts[channel.id] = format_platform(one);
  }
  CHECK(texts.size() == platform.channels.size());
  return texts;
}

/// Few messages, for on a busy machine each may take as long as other programs keep the core; in caches or not.
constexpr CalibrationDepth tiny{1024, 8192, 1e-5}, tiny_from_memory{1024, 8192, 1e-5, 65537};

ChannelPlan between(Ints ranks, Ints concurrencies) {
  ChannelPlan plan;
  plan.channel.name = "some channel";
  plan.ranks = std::move(ranks);
  plan.concurrencies = std::move(concurrencies);
  return plan;
}

Ints sizes_of(const std::vector<MessageTime>& times) {
  Ints sizes;
  for (const MessageTime& time : times) sizes.push_back(static_cast<int>(time.bytes));
  return sizes;
}

/// Every size and concurrency is there with a time, and all ranks know the same.
void check_measured(const MeasuredChannel& channel, const ChannelPlan& plan) {
  const ChannelTimes& times = channel.times;
  const MeasuringQuality& quality = channel.quality;
  const Ints sizes = sizes_of(times.one_way), at_least{1024, 2048, 4096, 8192};
  CAPTURE(sizes, plan.ranks, plan.concurrencies);
  CHECK(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
  CHECK(std::includes(sizes.begin(), sizes.end(), at_least.begin(), at_least.end()));
  CHECK((!sizes.empty() && sizes.front() == tiny.smallest_bytes && sizes.back() == tiny.largest_bytes));
  std::vector<double> seconds{times.empty_s, times.empty_synchronous_s, times.loggp.send_overhead_s,
                              times.loggp.receive_overhead_s};
  const auto append = [&](const std::vector<MessageTime>& messages) {
    CHECK(sizes_of(messages) == sizes);
    for (const MessageTime& message : messages) seconds.push_back(message.time_s);
  };
  append(times.one_way);
  append(times.loggp.trains);
  Ints concurrencies;
  for (const auto& [concurrency, ring] : times.rings) {
    concurrencies.push_back(concurrency);
    append(ring);
  }
  CHECK(concurrencies == plan.concurrencies);
  CHECK(std::all_of(seconds.begin(), seconds.end(), [](double time_s) { return time_s > 0.0; }));
  CHECK((0.0 <= times.eager_limit_bytes && times.eager_limit_bytes <= tiny.largest_bytes));
  CHECK((0 <= quality.outliers && quality.outliers <= quality.repetitions));
  CHECK(quality.typical_error <= quality.largest_error);
  seconds.insert(seconds.end(), {times.eager_limit_bytes, quality.typical_error, quality.largest_error,
                                 static_cast<double>(quality.outliers), static_cast<double>(quality.repetitions)});
  seconds.insert(seconds.end(), sizes.begin(), sizes.end());
  CHECK(same_on_all_ranks(seconds));
}

struct Node {
  std::string kind;
  int ranks = 1;
  int cores = 1;
};

/// Ranks as `mpirun --map-by slot` or `node` places them.
struct Cluster {
  std::vector<Node> list;
  Nodes nodes;
  std::vector<NodeFacts> facts;

  explicit Cluster(const std::vector<Node>& machines, bool round_robin = false) : list(machines) {
    std::vector<std::pair<int, int>> places;
    for (const Node& node : list) {
      const int index = static_cast<int>(facts.size());
      for (int place = 0; place < node.ranks; ++place) places.emplace_back(round_robin ? place : 0, index);
      facts.push_back({node.kind, node.cores});
      nodes.hosts.push_back("host" + std::to_string(index));
    }
    std::sort(places.begin(), places.end());
    for (const auto& [place, node] : places) nodes.node_of_rank.push_back(node);
  }

  CalibrationPlan plan() const { return plan_calibration(nodes, facts); }
  int node(int rank) const { return nodes.node_of_rank.at(static_cast<std::size_t>(rank)); }
  const NodeFacts& facts_of(int rank) const { return facts.at(static_cast<std::size_t>(node(rank))); }
};

/// Rings up to `most`: powers of two, what lies midway, and `most`; even ones on a network.
Ints rings(int most, bool is_network) {
  Ints sizes;
  for (int size = 2; size <= most; ++size) {
    int odd = size;
    while (odd % 2 == 0) odd /= 2;
    const bool listed = odd == 1 || odd == 3 || size == most;
    if (listed && !(is_network && size % 2 != 0)) sizes.push_back(size);
  }
  return sizes;
}

/// Checks a channel's ranks: neighbours lie on nodes of the right kinds, on a network on both in turns, and no node has
/// more ranks than cores.
void check_channel(const Cluster& cluster, const ChannelPlan& channel) {
  const bool is_network = channel.channel.scope == Scope::network;
  CHECK(std::set<int>(channel.ranks.begin(), channel.ranks.end()).size() == channel.ranks.size());
  REQUIRE(channel.concurrencies.back() <= static_cast<int>(channel.ranks.size()));
  for (const int size : channel.concurrencies) {
    std::map<int, int> users;
    for (int i = 0; i < size; ++i) {
      const int rank = channel.ranks[static_cast<std::size_t>(i)];
      const int next = channel.ranks[static_cast<std::size_t>((i + 1) % size)];
      CHECK((cluster.node(rank) != cluster.node(next)) == is_network);
      CHECK(cluster.facts_of(rank).kind == channel.channel.between[static_cast<std::size_t>(i % 2)]);
      ++users[cluster.node(rank)];
    }
    CHECK(users.size() == (is_network ? 2 : 1));
    for (const auto& [node, ranks] : users) CHECK(ranks <= cluster.facts[static_cast<std::size_t>(node)].cores);
  }
}

/// The rings of every channel that a cluster has, by its kinds of nodes: on the first node of the kind that has two
/// ranks, and on the first two nodes of a pair of kinds.
std::map<std::pair<std::string, std::string>, Ints> expected_rings(const Cluster& cluster, Scope scope) {
  const bool is_network = scope == Scope::network;
  std::map<std::pair<std::string, std::string>, Ints> expected;
  for (std::size_t a = 0; a < cluster.list.size(); ++a) {
    for (std::size_t b = 0; b < cluster.list.size(); ++b) {
      const Node &one = cluster.list[a], &other = cluster.list[b];
      const int ranks = std::min(one.ranks, other.ranks), cores = std::min(one.cores, other.cores);
      const bool back = expected.contains({other.kind, one.kind});
      if ((a == b) == is_network || back || (!is_network && ranks < 2)) continue;
      expected.try_emplace({one.kind, other.kind}, rings((is_network ? 2 : 1) * std::min(ranks, cores), is_network));
    }
  }
  std::erase_if(expected, [](const auto& entry) { return entry.second.empty(); });
  return expected;
}

void check_plan(const Cluster& cluster) {
  const CalibrationPlan plan = cluster.plan();
  for (const Scope scope : {Scope::node, Scope::network}) {
    auto expected = expected_rings(cluster, scope);
    for (const ChannelPlan& channel : plan.channels) {
      if (channel.channel.scope != scope) continue;
      const std::vector<std::string>& kinds = channel.channel.between;
      CAPTURE(channel.channel.name, kinds, channel.ranks);
      check_channel(cluster, channel);
      CHECK(expected[{kinds.at(0), kinds.at(1)}] == channel.concurrencies);
      expected.erase({kinds.at(0), kinds.at(1)});
    }
    CHECK(expected.empty());
  }
}

/// The reason of a refusal to plan, or what is not measured and why, a line each.
std::string refusals(const Cluster& cluster) {
  try {
    std::string lines;
    for (const std::string& line : cluster.plan().refused) lines += line + "\n";
    return lines;
  } catch (const InvalidArgument& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace

TEST_CASE(
    "in whatever order channels come, ids are unique, 0 is inside a node, and each costs what was measured of it") {
  std::vector<ChannelPlan> plans{network("a", "b"), network("b", "b"), shared_memory("b"), shared_memory("a"),
                                 network("a", "a")};
  const auto less = [](const ChannelPlan& one, const ChannelPlan& other) {
    return one.channel.between < other.channel.between;
  };
  std::sort(plans.begin(), plans.end(), less);
  do {
    Platform platform;
    std::map<std::string, int> memory;
    for (const ChannelPlan& plan : plans) {
      const std::vector<std::string>& kinds = plan.channel.between;
      const bool inside = plan.channel.scope == Scope::node;
      const ChannelTimes& times = inside ? fast : slow;
      const int id = add_channel(platform, plan, times);
      const Channel& channel = platform.channel(id);
      CHECK(channel.scope == plan.channel.scope);
      CHECK(channel.between == kinds);
      CHECK((channel.tau_lop && channel.loggp && !channel.hockney.empty()));
      // A buffer in shared memory, where both nodes' are known those on both sides of a network.
      const bool both = memory.contains(kinds[0]) && memory.contains(kinds[1]);
      CHECK(channel.path == (inside ? Ints{id, id} : both ? Ints{memory[kinds[0]], id, memory[kinds[1]]} : Ints{id}));
      check_costs(platform, id, times);
      if (inside) memory[kinds[0]] = id;
    }
    CHECK(texts_of(platform).size() == plans.size());
    CHECK(platform.channel(0).scope == Scope::node);
  } while (std::next_permutation(plans.begin(), plans.end(), less));

  // A node's memory that alone takes longer than the network is not on the way.
  Platform direct;
  add_channel(direct, shared_memory("a"), slow);
  CHECK(add_channel(direct, network("a", "a"), fast) == 1);
  CHECK(direct.channel(1).path == Ints{1});
}

TEST_CASE("a channel replaces that of the same name between the same nodes, and an error replaces none") {
  Platform platform;
  for (const ChannelPlan& plan : {shared_memory("a"), shared_memory("b")}) add_channel(platform, plan, fast);
  add_channel(platform, network("a", "b"), slow);
  Channel copies;
  copies.name = "host to device, pinned";
  copies.scope = Scope::device;
  copies.hockney = fit_piecewise_hockney(fast.one_way);
  CHECK(put_channel(platform, copies).id > 0);
  std::map<int, std::string> before = texts_of(platform);
  const auto check_changed = [&](int id) {
    std::map<int, std::string> now = texts_of(platform);
    CHECK(now.size() == before.size());
    for (const auto& [other, text] : now) CHECK((text != before[other]) == (other == id));
    before = now;
  };
  check_changed(add_channel(platform, shared_memory("b"), linear_times(1e-6, 9e9)));
  // The way back is the same channel.
  check_changed(add_channel(platform, network("b", "a"), linear_times(3e-5, 5e8)));
  copies.hockney = fit_piecewise_hockney(slow.one_way);
  check_changed(put_channel(platform, copies).id);
  ChannelTimes missing = slow;
  missing.rings[2].pop_back();
  for (const ChannelPlan& plan : {shared_memory("a"), shared_memory("c"), network("a", "a")}) {
    CHECK_THROWS_AS(add_channel(platform, plan, missing), InvalidArgument);
    check_changed(-1);
  }
}

TEST_CASE("rings have powers of two of ranks, sizes midway between them, and all ranks that have cores of their own") {
  for (int ranks = 2; ranks <= 50; ++ranks) check_plan(Cluster({{"a", ranks, ranks}}));
  for (const bool round_robin : {false, true}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      for (int cores = 1; cores <= 9; ++cores) {
        for (int others = 1; others <= 5; ++others) {
          INFO(ranks << " ranks on " << cores << " cores, and " << others << " on 3; round robin: " << round_robin);
          check_plan(Cluster({{"a", ranks, cores}, {"b", others, 3}, {"a", 2, cores}}, round_robin));
        }
      }
    }
  }
}

TEST_CASE("experiments are one for each kind of node and one for each pair of kinds, as the paper counts them") {
  // M_t + R_t (M_t^2 - (M_t over 2)), 001, section 5.2, with one network.
  for (int kinds = 1; kinds <= 5; ++kinds) {
    std::vector<Node> list;
    for (int node = 0; node < 3 * kinds; ++node) {
      list.push_back({std::string(1, static_cast<char>('a' + node % kinds)), 2, 2});
    }
    for (const bool round_robin : {false, true}) check_plan(Cluster(list, round_robin));
    const CalibrationPlan plan = Cluster(list).plan();
    CHECK(static_cast<int>(plan.channels.size()) == kinds + kinds * kinds - kinds * (kinds - 1) / 2);
    CHECK(plan.refused.empty());
  }
}

TEST_CASE("what ranks and cores do not suffice for is left out or refused with node, cores and ranks") {
  const std::pair<std::vector<Node>, std::string> rows[] = {
      {{{"a", 6, 4}}, "shared memory beyond concurrency 4: host0 has 4 cores for 6 ranks\n"},
      {{{"a", 2, 1}, {"a", 2, 1}},
       "shared memory: host0 has 1 core for 2 ranks\nnetwork beyond concurrency 2: host0 has 1 core for 2 ranks\n"},
      {{{"a", 4, 3}, {"a", 4, 8}}, "network beyond concurrency 6: host0 has 3 cores for 4 ranks"},
      {{{"a", 4, 8}, {"a", 4, 3}}, "network beyond concurrency 6: host1 has 3 cores for 4 ranks"},
      {{{"a", 1, 8}}, "error: nothing to measure: there is one rank"},
      {{{"a", 4, 1}}, "error: nothing to measure: shared memory: host0 has 1 core for 4 ranks"}};
  for (const auto& [nodes, named] : rows) CHECK_THAT(refusals(Cluster(nodes)), ContainsSubstring(named));
  CHECK(refusals(Cluster({{"a", 1, 4}, {"a", 1, 4}})).empty());
  Cluster unknown({{"a", 2, 2}, {"a", 2, 2}});
  unknown.facts.pop_back();
  CHECK_THAT(refusals(unknown), ContainsSubstring("error: facts about 1 of 2 nodes"));
}

TEST_CASE(
    "channels are measured with all sizes and concurrencies of their plans, and ranks without a part know of it") {
  const int ranks = session().size();
  std::vector<ChannelPlan> plans;
  if (ranks > 1) {
    Ints all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    plans = {between(all, ranks > 2 ? Ints{2, ranks} : Ints{2}), between({1, 0}, {2}), between({0, 1}, {})};
  }
  if (ranks > 2) plans.insert(plans.end(), {between({2, 1}, {2}), between({0, 2, 1}, {3})});
  if (ranks > 3) plans.push_back(between({3, 1, 2}, {2, 3}));
  for (const CalibrationDepth& depth : {tiny, tiny_from_memory}) {
    ChannelMeasurement measurement(session().comm(), plans, depth);
    Ints repetitions(plans.size(), 0);
    for (int round = 0; round < (depth.footprint_bytes > 0 ? 1 : 2); ++round) {
      measurement.round();
      const std::vector<MeasuredChannel> channels = measurement.result();
      CHECK(channels.size() == plans.size());
      for (std::size_t i = 0; i < channels.size(); ++i) {
        check_measured(channels[i], plans[i]);
        CHECK(channels[i].quality.repetitions > repetitions[i]);
        repetitions[i] = channels[i].quality.repetitions;
      }
    }
  }
}

}  // namespace steelyard::test_calibration
