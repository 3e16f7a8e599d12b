#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "models/communication/placement.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_placement {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::models;
using tests::Random;
using tests::whole;

namespace {

using Scope = Channel::Scope;
using Kinds = std::vector<std::string>;

Channel channel(int id, Scope scope, const Kinds& between = {}) {
  Channel channel;
  channel.id = id;
  channel.scope = scope;
  channel.between = between;
  return channel;
}

/// A cluster of fat and thin nodes: memories 0 and 5, networks 1 (fat), 2 (fat and thin), 3 (thin), a device link 9.
Platform fat_and_thin() {
  Platform platform;
  platform.channels = {channel(9, Scope::device),
                       channel(1, Scope::network, {"fat", "fat"}),
                       channel(2, Scope::network, {"fat", "thin"}),
                       channel(0, Scope::node, {"fat", "fat"}),
                       channel(5, Scope::node, {"thin", "thin"}),
                       channel(3, Scope::network, {"thin", "thin"})};
  platform.nodes = {{"a", "thin", 8}, {"b", "fat", 64}};
  return platform;
}

/// Memory 0 and network 1 of whatever nodes.
Platform of_any_kind() {
  Platform platform;
  platform.channels = {channel(0, Scope::node), channel(1, Scope::network)};
  return platform;
}

void refused(const auto& call, const std::string& what) {
  CHECK_THROWS_MATCHES(call(), InvalidArgument, MessageMatches(ContainsSubstring(what)));
}

}  // namespace

TEST_CASE("messages take memory inside a node and the network between nodes") {
  const Placement placement(of_any_kind(), {0, 1, 0, 1, 2});
  CHECK(placement.processes() == 5);
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      const bool same_node = from % 2 == to % 2 && (from == 4) == (to == 4);
      CHECK(placement.channel(from, to).channel == (same_node ? 0 : 1));
    }
  }
}

TEST_CASE("memories of nodes do not contend, unless all messages of a channel are to") {
  const std::vector<int> nodes = {0, 1, 0, 1, 3, 3};
  const Placement apart(of_any_kind(), nodes);
  const Placement together(of_any_kind(), nodes, {}, Placement::Contention::per_channel);
  CHECK(apart.channel(0, 2) == ChannelInstance{0, 0});
  CHECK(apart.channel(1, 3) == ChannelInstance{0, 1});
  CHECK(apart.channel(5, 4) == ChannelInstance{0, 3});
  for (const auto& [from, to] : {std::pair{0, 2}, {1, 3}, {5, 4}}) {
    CHECK(together.channel(from, to) == ChannelInstance{0, 0});
  }
}

TEST_CASE("messages between nodes contend for the links of both, unless all messages of a channel are to") {
  const std::vector<int> nodes = {0, 1, 2, 3, 3};
  const Placement apart(of_any_kind(), nodes);
  const Placement together(of_any_kind(), nodes, {}, Placement::Contention::per_channel);
  for (int from = 0; from < 4; ++from) {
    const int to = (from + 1) % 4;
    CHECK(apart.channel(from, to) == ChannelInstance{1, from});
    CHECK(apart.receiving_channel(from, to) == ChannelInstance{1, to});
    CHECK(together.channel(from, to) == ChannelInstance{1, 0});
    CHECK(together.receiving_channel(from, to) == ChannelInstance{1, 0});
  }
  CHECK(apart.receiving_channel(3, 4) == apart.channel(3, 4));
}

TEST_CASE("the kinds of the two nodes choose the channel, wherever the platform lists it") {
  Random random(1);
  Platform platform = fat_and_thin();
  for (int trial = 0; trial < 20; ++trial) {
    std::ranges::shuffle(platform.channels, random);
    const Placement placement(platform, {0, 0, 1, 1, 2, 2, 3, 3}, {"fat", "fat", "thin", "thin"});
    CHECK(placement.channel(0, 1) == ChannelInstance{0, 0});
    CHECK(placement.channel(3, 2) == ChannelInstance{0, 1});
    CHECK(placement.channel(4, 5) == ChannelInstance{5, 2});
    CHECK(placement.channel(7, 6) == ChannelInstance{5, 3});
    CHECK(placement.channel(0, 2).channel == 1);
    CHECK(placement.channel(4, 6).channel == 3);
  }
}

TEST_CASE("a message takes the channel of the way back") {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<int> nodes;
    for (int process = 0; process < 12; ++process) nodes.push_back(whole(random, 0, 4));
    Kinds kinds;
    for (int node = 0; node < 5; ++node) kinds.emplace_back(whole(random, 0, 1) == 0 ? "fat" : "thin");
    const Placement placement(fat_and_thin(), nodes, kinds);
    for (int from = 0; from < 12; ++from) {
      for (int to = 0; to < 12; ++to) REQUIRE(placement.channel(from, to) == placement.receiving_channel(to, from));
    }
  }
}

TEST_CASE("a channel between the two kinds goes before one between any, of which the first is taken") {
  Platform platform;
  platform.channels = {channel(4, Scope::network), channel(7, Scope::network),
                       channel(2, Scope::network, {"thin", "fat"}), channel(0, Scope::node)};
  const Placement placement(platform, {0, 1, 2}, {"fat", "thin", "fat"});
  CHECK(placement.channel(0, 1).channel == 2);
  CHECK(placement.channel(1, 2).channel == 2);
  CHECK(placement.channel(0, 2).channel == 4);
  CHECK(placement.channel(1, 1).channel == 0);
}

TEST_CASE("nodes without kinds are of the platform's first") {
  const Placement placement(fat_and_thin(), {0, 0, 1});
  CHECK(placement.channel(0, 1).channel == 5);
  CHECK(placement.channel(1, 2).channel == 3);
}

TEST_CASE("a message that no channel carries is refused with the kinds of its nodes") {
  const Placement stranger(fat_and_thin(), {0, 0, 1}, {"fat", "odd"});
  CHECK(stranger.channel(0, 1).channel == 0);
  refused([&] { return stranger.channel(2, 2); }, "no channel inside nodes of kind 'odd'");
  refused([&] { return stranger.channel(1, 2); }, "no channel between nodes of kind 'fat' and 'odd'");
  refused([&] { return stranger.channel(2, 1); }, "no channel between nodes of kind 'odd' and 'fat'");

  Platform memory;
  memory.channels = {channel(0, Scope::node), channel(1, Scope::device)};
  const Placement alone(memory, {0, 0, 1});
  CHECK(alone.channel(0, 1).channel == 0);
  refused([&] { return alone.channel(0, 2); }, "no channel between nodes");
}

TEST_CASE("processes that are not there, and nodes without a kind, are refused") {
  const Placement placement(of_any_kind(), {0, 1});
  for (const auto& [from, to] : {std::pair{-1, 0}, {0, -1}, {2, 0}, {0, 2}}) {
    refused([&, from = from, to = to] { return placement.channel(from, to); }, "expected 0 … 1");
  }
  refused([] { return Placement(of_any_kind(), {}); }, "no processes");
  refused([] { return Placement(of_any_kind(), {0, -1}); }, "node -1 (expected 0, 1, …)");
  refused([] { return Placement(of_any_kind(), {0, -2}, {"fat"}); }, "node -2");
  refused([] { return Placement(of_any_kind(), {0, 1}, {"fat"}); }, "node 1 (expected 0 … 0");
}

}  // namespace steelyard::test_placement
