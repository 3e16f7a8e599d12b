#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "comm/measurement/calibration_plan.hpp"
#include "core/base/errors.hpp"

namespace steelyard::test_calibration_plan {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Scope = models::Channel::Scope;

namespace {

struct Node {
  std::string kind;
  int ranks = 1;
  int cores = 1;
};

/// Ranks as `mpirun --map-by slot` or `node` places them.
struct Cluster {
  Nodes nodes;
  std::vector<NodeFacts> facts;

  explicit Cluster(const std::vector<Node>& list, bool round_robin = false) {
    int most = 0;
    for (const Node& node : list) {
      facts.push_back({node.kind, node.cores});
      nodes.hosts.push_back("host" + std::to_string(nodes.hosts.size()));
      most = std::max(most, node.ranks);
    }
    const int count = static_cast<int>(list.size());
    if (round_robin) {
      for (int place = 0; place < most; ++place) {
        for (int node = 0; node < count; ++node) {
          if (place < list[static_cast<std::size_t>(node)].ranks) nodes.node_of_rank.push_back(node);
        }
      }
    } else {
      for (int node = 0; node < count; ++node) {
        nodes.node_of_rank.insert(nodes.node_of_rank.end(),
                                  static_cast<std::size_t>(list[static_cast<std::size_t>(node)].ranks), node);
      }
    }
  }

  CalibrationPlan plan(int most_concurrency = 0) const { return plan_calibration(nodes, facts, most_concurrency); }
  int node(int rank) const { return nodes.node_of_rank.at(static_cast<std::size_t>(rank)); }
  const NodeFacts& facts_of(int rank) const { return facts.at(static_cast<std::size_t>(node(rank))); }
};

/// What holds for every plan.
void check_channel(const Cluster& cluster, const ChannelPlan& channel) {
  const std::vector<int>& sizes = channel.concurrencies;
  INFO(channel.channel.name << " between " << channel.channel.between.at(0) << " and "
                            << channel.channel.between.at(1));
  REQUIRE_FALSE(sizes.empty());
  CHECK(sizes.front() == 2);
  CHECK(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
  REQUIRE(sizes.back() <= static_cast<int>(channel.ranks.size()));
  CHECK(std::set<int>(channel.ranks.begin(), channel.ranks.end()).size() == channel.ranks.size());
  const bool is_network = channel.channel.scope == Scope::network;
  for (const int size : sizes) {
    CAPTURE(size);
    if (is_network) CHECK(size % 2 == 0);
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

void check_plan(const Cluster& cluster, const CalibrationPlan& plan) {
  for (const ChannelPlan& channel : plan.channels) check_channel(cluster, channel);
}

std::vector<int> concurrencies(const CalibrationPlan& plan, Scope scope) {
  for (const ChannelPlan& channel : plan.channels) {
    if (channel.channel.scope == scope) return channel.concurrencies;
  }
  return {};
}

int count(const CalibrationPlan& plan, Scope scope) {
  return static_cast<int>(
      std::count_if(plan.channels.begin(), plan.channels.end(),
                    [scope](const ChannelPlan& channel) { return channel.channel.scope == scope; }));
}

std::string refusals(const CalibrationPlan& plan) {
  return std::accumulate(plan.refused.begin(), plan.refused.end(), std::string(),
                         [](const std::string& text, const std::string& line) { return text + line + "\n"; });
}

/// The reason of a refusal to plan; empty where there is a plan.
std::string reason(const Cluster& cluster, int most_concurrency = 0) {
  try {
    cluster.plan(most_concurrency);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rings inside a node have powers of two, what lies midway, and as many ranks as there are") {
  using Sizes = std::vector<int>;
  const auto sizes = [](int ranks) { return concurrencies(Cluster({{"a", ranks, ranks}}).plan(), Scope::node); };
  CHECK(sizes(2) == Sizes{2});
  CHECK(sizes(3) == Sizes{2, 3});
  CHECK(sizes(5) == Sizes{2, 3, 4, 5});
  CHECK(sizes(6) == Sizes{2, 3, 4, 6});
  CHECK(sizes(7) == Sizes{2, 3, 4, 6, 7});
  CHECK(sizes(16) == Sizes{2, 3, 4, 6, 8, 12, 16});
  CHECK(sizes(47) == Sizes{2, 3, 4, 6, 8, 12, 16, 24, 32, 47});
}

TEST_CASE("no ring has more ranks on a node than cores, and network neighbours are on different nodes") {
  for (const bool round_robin : {false, true}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      for (int cores = 1; cores <= 9; ++cores) {
        for (int others = 1; others <= 5; ++others) {
          const Cluster cluster({{"a", ranks, cores}, {"b", others, 3}, {"a", 2, cores}}, round_robin);
          INFO(ranks << " ranks on " << cores << " cores, and " << others << " on 3; round robin: " << round_robin);
          const CalibrationPlan plan = cluster.plan();
          check_plan(cluster, plan);
          for (const ChannelPlan& channel : plan.channels) {
            // The largest that ranks and cores allow.
            const std::vector<std::string>& kinds = channel.channel.between;
            const int a = std::min(kinds[0] == "a" ? ranks : others, kinds[0] == "a" ? cores : 3);
            const int b = kinds[1] == "b" ? std::min(others, 3) : std::min(2, cores);
            if (channel.channel.scope == Scope::network) CHECK(channel.concurrencies.back() == 2 * std::min(a, b));
            if (channel.channel.scope == Scope::node && ranks > 1) CHECK(channel.concurrencies.back() == a);
          }
        }
      }
    }
  }
}

TEST_CASE("experiments are one for each kind of node and one for each pair of kinds, as the paper counts them") {
  // M_t + R_t (M_t^2 - (M_t over 2)), 001, section 5.2, with one network.
  for (int kinds = 1; kinds <= 5; ++kinds) {
    for (const bool round_robin : {false, true}) {
      std::vector<Node> list;
      for (int node = 0; node < 3 * kinds; ++node)
        list.push_back({std::string(1, static_cast<char>('a' + node % kinds)), 2, 2});
      const Cluster cluster(list, round_robin);
      const CalibrationPlan plan = cluster.plan();
      CHECK(count(plan, Scope::node) == kinds);
      CHECK(count(plan, Scope::network) == kinds * kinds - kinds * (kinds - 1) / 2);
      CHECK(plan.refused.empty());
      check_plan(cluster, plan);
      std::set<std::multiset<std::string>> pairs;
      for (const ChannelPlan& channel : plan.channels) {
        const std::vector<std::string>& between = channel.channel.between;
        if (channel.channel.scope == Scope::network) pairs.emplace(between.begin(), between.end());
        if (channel.channel.scope == Scope::node) CHECK(between[0] == between[1]);
      }
      CHECK(static_cast<int>(pairs.size()) == count(plan, Scope::network));
    }
  }
  // Fermi: nodes of 12 and of 8 cores.
  CHECK(Cluster({{"12", 12, 12}, {"8", 8, 8}, {"12", 12, 12}, {"8", 8, 8}}).plan().channels.size() == 5);
}

TEST_CASE("a kind of which there is one node has no network of its own, and one rank a node no shared memory") {
  const CalibrationPlan two_kinds = Cluster({{"a", 2, 2}, {"b", 2, 2}}).plan();
  CHECK(count(two_kinds, Scope::node) == 2);
  CHECK(count(two_kinds, Scope::network) == 1);
  const CalibrationPlan spread = Cluster({{"a", 1, 4}, {"a", 1, 4}}).plan();
  CHECK(count(spread, Scope::node) == 0);
  CHECK(concurrencies(spread, Scope::network) == std::vector<int>{2});
  CHECK(spread.refused.empty());
  // The first node of a kind may be the one that cannot.
  CHECK(Cluster({{"a", 1, 4}, {"a", 3, 4}}).plan().channels.front().ranks == std::vector<int>{1, 2, 3});
}

TEST_CASE("a concurrency that was asked for is the largest") {
  for (int most = 2; most <= 8; ++most) {
    CAPTURE(most);
    const Cluster cluster({{"a", 8, 8}, {"a", 8, 8}});
    const CalibrationPlan plan = cluster.plan(most);
    check_plan(cluster, plan);
    CHECK(plan.refused.empty());
    CHECK(concurrencies(plan, Scope::node).back() == most);
    CHECK(concurrencies(plan, Scope::network).back() == most - most % 2);
  }
}

TEST_CASE("what the cores do not suffice for is refused with node, cores and ranks") {
  const CalibrationPlan crowded = Cluster({{"a", 6, 4}}).plan();
  CHECK(concurrencies(crowded, Scope::node).back() == 4);
  REQUIRE(crowded.refused.size() == 1);
  CHECK(crowded.refused.front() == "shared memory beyond concurrency 4: host0 has 4 cores for 6 ranks");
  // A single core measures no shared memory at all, but there is still the network.
  const CalibrationPlan single = Cluster({{"a", 2, 1}, {"a", 2, 1}}).plan();
  CHECK(count(single, Scope::node) == 0);
  CHECK(concurrencies(single, Scope::network) == std::vector<int>{2});
  CHECK(refusals(single) ==
        "shared memory: host0 has 1 core for 2 ranks\nnetwork beyond concurrency 2: host0 has 1 core for 2 ranks\n");
  // The node that is short of cores is the one that is named, whichever it is.
  for (const int crowded_node : {0, 1}) {
    std::vector<Node> nodes{{"a", 4, 8}, {"a", 4, 8}};
    nodes[static_cast<std::size_t>(crowded_node)].cores = 3;
    const CalibrationPlan plan = Cluster(nodes).plan();
    CHECK_THAT(refusals(plan), ContainsSubstring("network beyond concurrency 6: host" + std::to_string(crowded_node) +
                                                 " has 3 cores for 4 ranks"));
  }
}

TEST_CASE("a plan that measures nothing or less than was asked for is an error that says why") {
  CHECK_THAT(reason(Cluster({{"a", 1, 8}})), ContainsSubstring("one rank"));
  CHECK_THAT(reason(Cluster({{"a", 4, 1}})), ContainsSubstring("host0 has 1 core for 4 ranks"));
  const std::string too_few_ranks = reason(Cluster({{"a", 4, 8}}), 64);
  CHECK_THAT(too_few_ranks, ContainsSubstring("concurrency 64") && ContainsSubstring("at most 4") &&
                                ContainsSubstring("no more ranks"));
  const std::string too_few_cores = reason(Cluster({{"a", 8, 4}}), 6);
  CHECK_THAT(too_few_cores, ContainsSubstring("concurrency 6") && ContainsSubstring("at most 4") &&
                                ContainsSubstring("host0 has 4 cores for 8 ranks"));
  CHECK(reason(Cluster({{"a", 8, 4}}), 4).empty());
  CHECK_THAT(reason(Cluster({{"a", 1, 8}, {"a", 1, 8}}), 4), ContainsSubstring("concurrency 4 in network"));
  Cluster unknown({{"a", 2, 2}, {"a", 2, 2}});
  unknown.facts.pop_back();
  CHECK_THROWS_MATCHES(unknown.plan(), InvalidArgument, MessageMatches(ContainsSubstring("1 of 2 nodes")));
}

}  // namespace steelyard::test_calibration_plan
