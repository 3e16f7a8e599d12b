#include <bit>
#include <map>
#include <optional>
#include <set>

#include "models/communication/message_pattern.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_message_pattern {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

using Sends = Phase::Sends;
using Contention = Placement::Contention;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr int most_processes = 17;
constexpr double bytes = 48.0;

std::size_t at(int process) { return static_cast<std::size_t>(process); }

Placement two_nodes() {
  Platform platform = unit_platform(2);
  platform.channels[1].scope = Channel::Scope::network;
  return {platform, {0, 0, 1, 1}};
}

std::string text_of(std::vector<Phase> phases) {
  return to_string(expression({"test", 4, std::move(phases)}, two_nodes()));
}

/// Messages of one size among so many processes.
void require_of_one_size(const MessagePattern& pattern, int processes) {
  REQUIRE(pattern.processes == processes);
  for (const Phase& phase : pattern.phases) {
    for (const Message& message : phase.messages) REQUIRE(message.bytes == bytes);
  }
}

/// Everybody has what process 0 had, received once, from someone who had it before the phase.
void require_broadcast(const MessagePattern& pattern, int processes) {
  require_of_one_size(pattern, processes);
  std::set<int> have = {0};
  for (const Phase& phase : pattern.phases) {
    const std::set<int> had = have;
    for (const Message& message : phase.messages) {
      REQUIRE(had.contains(message.from));
      REQUIRE(have.insert(message.to).second);
    }
  }
  REQUIRE(have.size() == at(processes));
}

/// Every process sends one message to the next.
void require_shift(const Phase& phase, int processes) {
  REQUIRE(phase.sends == Sends::at_once);
  std::set<int> senders;
  for (const Message& message : phase.messages) {
    REQUIRE(senders.insert(message.from).second);
    REQUIRE(message.to == (message.from + 1) % processes);
  }
  REQUIRE(senders.size() == at(processes));
}

/// How often the vector of each process is in a sum.
using Sum = std::map<int, int>;

/// The sum of every process after the phases. Whoever sends without receiving before the first exchange gives its
/// vector away.
std::vector<Sum> reduced(const MessagePattern& pattern) {
  std::vector<Sum> sums(at(pattern.processes));
  for (int process = 0; process < pattern.processes; ++process) sums[at(process)] = {{process, 1}};
  bool has_exchanged = false;
  for (const Phase& phase : pattern.phases) {
    const std::vector<Sum> before = sums;
    std::set<int> receivers;
    for (const Message& message : phase.messages) receivers.insert(message.to);
    for (const Message& message : phase.messages) {
      for (const auto& [process, count] : before[at(message.from)]) sums[at(message.to)][process] += count;
      if (receivers.contains(message.from)) {
        has_exchanged = true;
      } else if (!has_exchanged) {
        sums[at(message.from)].clear();
      }
    }
  }
  return sums;
}

double serial_s(const MessagePattern& pattern) {
  return serial_cost_s(pattern, [](const Message& message) { return message.bytes; });
}

}  // namespace

TEST_CASE("a message takes the first channel between the kinds of its nodes, or else the first between any") {
  Random random(1);
  const std::vector<std::string> kinds{"fat", "thin", "odd"};
  const auto any_kind = [&] { return kinds[at(whole(random, 0, 2))]; };
  for (int trial = 0; trial < 300; ++trial) {
    Platform platform;
    for (int i = whole(random, 1, 9); i > 0; --i) {
      Channel& channel = platform.channels.emplace_back();
      channel.id = 10 + i;
      channel.scope = static_cast<Channel::Scope>(whole(random, 0, 2));
      if (whole(random, 0, 2) > 0) channel.between = {any_kind(), any_kind()};
      if (channel.scope == Channel::Scope::node && !channel.between.empty()) channel.between[1] = channel.between[0];
    }
    platform.nodes = {{"a", any_kind(), 8}, {"b", any_kind(), 64}};
    std::vector<int> nodes;
    for (int process = 0; process < 8; ++process) nodes.push_back(whole(random, 0, 3));
    std::vector<std::string> kind_of_node;
    for (int node = 0; node < 4; ++node) kind_of_node.push_back(any_kind());
    if (trial % 3 == 0) kind_of_node.clear();  // all of the kind of the platform's first
    const bool per_node = trial % 2 == 0;
    const Placement placement(platform, nodes, kind_of_node, per_node ? Contention::per_node : Contention::per_channel);
    REQUIRE(placement.processes() == 8);
    for (int from = 0; from < 8; ++from) {
      for (int to = 0; to < 8; ++to) {
        const bool is_inside = nodes[at(from)] == nodes[at(to)];
        const auto kind = [&](int process) {
          return kind_of_node.empty() ? platform.nodes[0].kind : kind_of_node[at(nodes[at(process)])];
        };
        const std::vector<std::string> way{kind(from), kind(to)}, back{kind(to), kind(from)};
        std::optional<int> between, any;
        for (const Channel& channel : platform.channels) {
          if (channel.scope != (is_inside ? Channel::Scope::node : Channel::Scope::network)) continue;
          if (!between && (channel.between == way || channel.between == back)) between = channel.id;
          if (!any && channel.between.empty()) any = channel.id;
        }
        if (!between && !any) {
          CHECK_THROWS_MATCHES(placement.channel(from, to), InvalidArgument,
                               MessageMatches(ContainsSubstring("of kind '" + way[0] + "'")));
          continue;
        }
        const int id = between ? *between : *any;
        REQUIRE(placement.channel(from, to) == ChannelInstance{id, per_node ? nodes[at(from)] : 0});
        REQUIRE(placement.receiving_channel(from, to) == ChannelInstance{id, per_node ? nodes[at(to)] : 0});
      }
    }
  }
}

TEST_CASE("phases follow each other, processes of a phase send at once, one after the other or all at once") {
  CHECK(text_of({Phase{{{0, 1, 7}, {2, 3, 8}}, Sends::in_order}, Phase{{{1, 2, 9}}, Sends::in_order}}) ==
        "T0(7)||T0@1(8)+T1(9)||T1@1(9)");
  const std::vector<Message> messages = {{0, 1, 7}, {1, 0, 6}, {0, 2, 8}, {0, 3, 9}};
  CHECK(text_of({Phase{messages, Sends::in_order}}) == "(T0(7)+T1(8)+T1(9))||(T1@1(8)+T1@1(9))||T0(6)");
  CHECK(text_of({Phase{messages, Sends::at_once}}) == "(T0(7)||T1(8)||T1(9))||(T1@1(8)||T1@1(9))||T0(6)");
  // What a process sends through one channel stands together, in the order of sending.
  CHECK(text_of({Phase{{{0, 3, 5}, {0, 1, 7}, {0, 2, 4}, {0, 1, 1}}, Sends::in_order}}) ==
        "(T0(7)+T0(1)+T1(5)+T1(4))||(T1@1(5)+T1@1(4))");
  CHECK(text_of({Phase{}, Phase{}}).empty());
}

TEST_CASE("a binomial broadcast gives everybody the root's data in ceil(log2 P) phases") {
  const int processes = GENERATE(range(1, most_processes + 1));
  const MessagePattern pattern = binomial_broadcast(processes, bytes);
  require_broadcast(pattern, processes);
  const int stages = std::bit_width(static_cast<unsigned>(processes - 1));
  REQUIRE(pattern.phases.size() == at(stages));
  REQUIRE(serial_s(pattern) == stages * bytes);
}

TEST_CASE("a binomial broadcast through one channel costs what the paper says (001, equation 4)") {
  const int processes = GENERATE(range(1, most_processes + 1));
  Random random(at(processes));
  const Evaluation no_merging{infinity};
  const Platform platform = measured_platform(random, 1);
  const TauLop model(platform);
  const double m = uniform(random, 1.0, 500.0);
  const Placement placement(platform, std::vector<int>(at(processes), 0));
  const Expression broadcast = expression(binomial_broadcast(processes, m), placement);
  double equation_4_s = 0.0;
  for (int have = 1; have < processes; have *= 2) {
    // Of the last stage only the messages that remain.
    equation_4_s += model.transmission_s(0, m, std::min(have, processes - have));
  }
  REQUIRE_THAT(cost_s(aligned_form(broadcast, model, no_merging), model), WithinRel(equation_4_s, 1e-12));
  REQUIRE_THAT(cost_s(event_form(broadcast, model, no_merging), model), WithinRel(equation_4_s, 1e-9));
}

TEST_CASE("in an allgather every process sends P - 1 times to the next, and in the end everybody has all blocks") {
  const int processes = GENERATE(range(1, most_processes + 1));
  Random random(at(processes));
  const MessagePattern allgather = ring_allgather(processes, bytes);
  require_of_one_size(allgather, processes);
  REQUIRE(allgather.phases.size() == at(processes - 1));
  for (const Phase& phase : allgather.phases) require_shift(phase, processes);
  if (processes == 1) return;
  // On one channel a phase is what its transfer times are measured with: P || T(m).
  const MessagePattern once{"phase", processes, {allgather.phases.front()}};
  const Platform platform = measured_platform(random, 1);
  const TauLop model(platform);
  const Placement placement(platform, std::vector<int>(at(processes), 0));
  REQUIRE_THAT(cost_s(aligned_form(expression(once, placement), model), model),
               WithinRel(model.transmission_s(0, bytes, processes), 1e-12));
}

TEST_CASE("an allreduce gives everybody the sum of all vectors, each counted once, in log2 P exchanges and two more") {
  const int processes = GENERATE(range(1, most_processes + 1));
  const MessagePattern pattern = recursive_doubling_allreduce(processes, bytes);
  require_of_one_size(pattern, processes);
  Sum all;
  for (int process = 0; process < processes; ++process) all[process] = 1;
  for (const Sum& sum : reduced(pattern)) REQUIRE(sum == all);
  const int q = std::bit_width(static_cast<unsigned>(processes)) - 1;
  REQUIRE(pattern.phases.size() == at((1 << q) < processes ? q + 2 : q));
  REQUIRE(serial_s(pattern) == static_cast<double>(pattern.phases.size()) * bytes);
}

TEST_CASE("in a 1D halo exchange neighbours exchange, and nobody else") {
  const int processes = GENERATE(range(1, most_processes + 1));
  const MessagePattern pattern = halo_1d(processes, bytes);
  REQUIRE(pattern.phases.size() == 1);
  REQUIRE(pattern.phases[0].sends == Sends::at_once);
  require_of_one_size(pattern, processes);
  std::set<std::pair<int, int>> pairs;
  for (const Message& message : pattern.phases[0].messages) {
    REQUIRE(std::abs(message.from - message.to) == 1);
    REQUIRE(pairs.emplace(message.from, message.to).second);
  }
  REQUIRE(pairs.size() == at(2 * (processes - 1)));
}

TEST_CASE("processes and messages that cannot be are refused with their values") {
  const auto refused = [](const auto& call, const std::string& what) {
    CHECK_THROWS_MATCHES(call(), InvalidArgument, MessageMatches(ContainsSubstring(what)));
  };
  std::vector<Message> wrong{{2, 2, 1}, {0, 1, -1}, {0, 1, infinity}, {0, 1, not_a_number}};
  for (const auto& [from, to] : {std::pair{-1, 0}, {0, -1}, {4, 0}, {0, 4}}) {
    refused([&, from = from, to = to] { return two_nodes().channel(from, to); }, "expected 0 … 3");
    wrong.push_back({from, to, 1});
  }
  const Platform platform = unit_platform(2);
  refused([&] { return Placement(platform, {}); }, "no processes");
  refused([&] { return Placement(platform, {0, -1}); }, "node -1");
  refused([&] { return Placement(platform, {0, 1}, {"fat"}); }, "node 1");
  for (const Message& message : wrong) {
    const MessagePattern pattern{"odd", 4, {Phase{}, Phase{{{0, 1, 1}, message}, {}}}};
    refused([&] { expression(pattern, two_nodes()); }, "odd: message");
    refused([&] { serial_s(pattern); }, "odd: message");
  }
  CHECK(serial_s({"fine", 4, {Phase{{{0, 1, 0.0}, {3, 0, 1e300}}, {}}}}) == 1e300);
  refused([] { expression({"too many", 6, {Phase{{{0, 5, 1}}, {}}}}, two_nodes()); }, "from process 0 to 5");
  for (const auto pattern : {&binomial_broadcast, &ring_allgather, &recursive_doubling_allreduce, &halo_1d}) {
    for (const int processes : {-3, 0}) refused([&] { pattern(processes, bytes); }, "expected at least");
    for (const double size : {-1.0, infinity, not_a_number}) refused([&] { pattern(1, size); }, "bytes");
    CHECK(serial_s(pattern(2, 0.0)) == 0.0);
  }
}

}  // namespace steelyard::test_message_pattern
