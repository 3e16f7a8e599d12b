#include <map>
#include <set>

#include "comm/measurement/calibration.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_calibration_plan {

using Scope = models::Channel::Scope;
using Ints = std::vector<int>;

namespace {

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

  CalibrationPlan plan(int most_concurrency = 0) const { return plan_calibration(nodes, facts, most_concurrency); }
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

/// What holds for every channel: neighbours are on nodes of the right kinds, in turns on a network, and on no node more
/// than cores.
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
std::string refusals(const Cluster& cluster, int most_concurrency) {
  try {
    std::string lines;
    for (const std::string& line : cluster.plan(most_concurrency).refused) lines += line + "\n";
    return lines;
  } catch (const InvalidArgument& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace

TEST_CASE("rings have powers of two, what lies midway, and as many ranks as there are on no more than the cores") {
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
    for (const bool round_robin : {false, true}) {
      std::vector<Node> list;
      for (int node = 0; node < 3 * kinds; ++node) {
        list.push_back({std::string(1, static_cast<char>('a' + node % kinds)), 2, 2});
      }
      const Cluster cluster(list, round_robin);
      check_plan(cluster);
      const CalibrationPlan plan = cluster.plan();
      CHECK(static_cast<int>(plan.channels.size()) == kinds + kinds * kinds - kinds * (kinds - 1) / 2);
      CHECK(plan.refused.empty());
    }
  }
}

TEST_CASE("a concurrency that was asked for is the largest") {
  for (int most = 2; most <= 8; ++most) {
    CAPTURE(most);
    const CalibrationPlan plan = Cluster({{"a", 8, 8}, {"a", 8, 8}}).plan(most);
    CHECK(plan.refused.empty());
    CHECK(plan.channels.at(0).concurrencies == rings(most, false));
    CHECK(plan.channels.at(1).concurrencies == rings(most, true));
  }
}

TEST_CASE("what ranks and cores do not suffice for is left out or refused with node, cores and ranks") {
  struct Row {
    std::vector<Node> nodes;
    int most_concurrency;
    std::string named;
  };
  const Row rows[] = {
      {{{"a", 6, 4}}, 0, "shared memory beyond concurrency 4: host0 has 4 cores for 6 ranks\n"},
      {{{"a", 2, 1}, {"a", 2, 1}},
       0,
       "shared memory: host0 has 1 core for 2 ranks\nnetwork beyond concurrency 2: host0 has 1 core for 2 ranks\n"},
      {{{"a", 4, 3}, {"a", 4, 8}}, 0, "network beyond concurrency 6: host0 has 3 cores for 4 ranks"},
      {{{"a", 4, 8}, {"a", 4, 3}}, 0, "network beyond concurrency 6: host1 has 3 cores for 4 ranks"},
      {{{"a", 1, 8}}, 0, "error: nothing to measure: there is one rank"},
      {{{"a", 4, 1}}, 0, "error: nothing to measure: shared memory: host0 has 1 core for 4 ranks"},
      {{{"a", 4, 8}}, 64, "error: concurrency 64 in shared memory (expected at most 4: there are no more ranks"},
      {{{"a", 8, 4}}, 6, "error: concurrency 6 in shared memory (expected at most 4: host0 has 4 cores for 8 ranks"},
      {{{"a", 1, 8}, {"a", 1, 8}}, 4, "error: concurrency 4 in network (expected at most 2"}};
  for (const Row& row : rows) {
    CHECK_THAT(refusals(Cluster(row.nodes), row.most_concurrency), ContainsSubstring(row.named));
  }
  CHECK(refusals(Cluster({{"a", 8, 4}}), 4).empty());
  CHECK(refusals(Cluster({{"a", 1, 4}, {"a", 1, 4}}), 0).empty());
  Cluster unknown({{"a", 2, 2}, {"a", 2, 2}});
  unknown.facts.pop_back();
  CHECK_THAT(refusals(unknown, 0), ContainsSubstring("error: facts about 1 of 2 nodes"));
}

}  // namespace steelyard::test_calibration_plan
