#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "tests/models/similar_forms.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_message_pattern {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;

namespace {

using Sends = Phase::Sends;

/// Memory 0 inside nodes, network 1 between them.
Platform memory_and_network(Platform platform) {
  platform.channels[1].scope = Channel::Scope::network;
  return platform;
}

Placement two_nodes() { return {memory_and_network(unit_platform(2)), {0, 0, 1, 1}}; }

std::string text_of(std::vector<Phase> phases) {
  return to_string(expression({"test", 4, std::move(phases)}, two_nodes()));
}

Phase random_phase(Random& random, int processes) {
  Phase phase;
  phase.sends = whole(random, 0, 1) == 0 ? Sends::in_order : Sends::at_once;
  for (int count = whole(random, 0, 2 * processes); count > 0; --count) {
    const int from = whole(random, 0, processes - 1);
    const int to = (from + whole(random, 1, processes - 1)) % processes;
    phase.messages.push_back({from, to, uniform(random, 0.1, 100.0)});
  }
  return phase;
}

MessagePattern random_pattern(Random& random, int processes) {
  MessagePattern pattern{"random", processes, {}};
  for (int count = whole(random, 0, 4); count > 0; --count) pattern.phases.push_back(random_phase(random, processes));
  return pattern;
}

std::vector<int> random_nodes(Random& random, int processes) {
  std::vector<int> nodes;
  for (int i = 0; i < processes; ++i) nodes.push_back(whole(random, 0, 2));
  return nodes;
}

/// The same pattern of processes that are called `names[process]`.
MessagePattern renamed(MessagePattern pattern, const std::vector<int>& names) {
  const auto name = [&](int process) { return names[static_cast<std::size_t>(process)]; };
  for (Phase& phase : pattern.phases) {
    for (Message& message : phase.messages) message = {name(message.from), name(message.to), message.bytes};
  }
  return pattern;
}

/// Seconds by both evaluations.
std::pair<double, double> costs_s(const MessagePattern& pattern, const Placement& placement, const TauLop& model) {
  const Expression whole = expression(pattern, placement);
  return {cost_s(aligned_form(whole, model), model), cost_s(event_form(whole, model), model)};
}

double latency_and_bytes_s(const Message& message) { return 5.0 + 2.0 * message.bytes; }

}  // namespace

TEST_CASE("phases follow each other, processes of a phase send at once") {
  CHECK(text_of({Phase{{{0, 1, 7}, {2, 3, 8}}, Sends::in_order}, Phase{{{1, 2, 9}}, Sends::in_order}}) ==
        "T0(7)||T0@1(8)+T1(9)||T1@1(9)");
}

TEST_CASE("a process sends its messages one after the other, or all at once") {
  const std::vector<Message> messages = {{0, 1, 7}, {1, 0, 6}, {0, 2, 8}, {0, 3, 9}};
  CHECK(text_of({Phase{messages, Sends::in_order}}) == "(T0(7)+T1(8)+T1(9))||(T1@1(8)+T1@1(9))||T0(6)");
  CHECK(text_of({Phase{messages, Sends::at_once}}) == "(T0(7)||T1(8)||T1(9))||(T1@1(8)||T1@1(9))||T0(6)");
}

TEST_CASE("what a process sends through one channel stands together, in the order of sending") {
  CHECK(text_of({Phase{{{0, 3, 5}, {0, 1, 7}, {0, 2, 4}, {0, 1, 1}}, Sends::in_order}}) ==
        "(T0(7)+T0(1)+T1(5)+T1(4))||(T1@1(5)+T1@1(4))");
}

TEST_CASE("messages of a phase contend where the placement says so") {
  const Platform platform = memory_and_network(unit_platform(2));
  const MessagePattern pattern{"two pairs", 4, {Phase{{{0, 1, 7}, {2, 3, 8}}, {}}}};
  const Placement apart(platform, {0, 0, 1, 1});
  const Placement together(platform, {0, 0, 1, 1}, {}, Placement::Contention::per_channel);
  const TauLop model(platform);
  CHECK(to_string(aligned_form(expression(pattern, apart), model)) == "T0@1(8)");
  CHECK(to_string(aligned_form(expression(pattern, together), model)) == "2||T0(7)+T0(1)");
}

TEST_CASE("messages between two nodes contend with one another, whoever sends them, and with none of other nodes") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Platform platform = memory_and_network(measured_platform(random, 2));
    const TauLop model(platform, BeyondMeasured::proportional);
    // Processes 0, 1, 2 on one node, 3, 4, 5 on the other; the same again on two more.
    MessagePattern pattern{"between nodes", 6, {Phase{}}}, twice{"twice", 12, {Phase{}}};
    pattern.phases[0].sends = twice.phases[0].sends = trial % 2 == 0 ? Sends::in_order : Sends::at_once;
    for (int count = whole(random, 1, 8); count > 0; --count) {
      Message message{whole(random, 0, 2), whole(random, 3, 5), uniform(random, 0.1, 100.0)};
      if (whole(random, 0, 1) == 0) std::swap(message.from, message.to);
      pattern.phases[0].messages.push_back(message);
      twice.phases[0].messages.push_back(message);
      twice.phases[0].messages.push_back({message.from + 6, message.to + 6, message.bytes});
    }
    const std::vector<int> nodes{0, 0, 0, 1, 1, 1};
    const auto [aligned_s, event_s] = costs_s(pattern, Placement(platform, nodes), model);
    const auto [paper_s, paper_event_s] =
        costs_s(pattern, Placement(platform, nodes, {}, Placement::Contention::per_channel), model);
    const auto [twice_s, twice_event_s] =
        costs_s(twice, Placement(platform, {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}), model);
    REQUIRE_THAT(aligned_s, WithinRel(paper_s, 1e-9));
    REQUIRE_THAT(event_s, WithinRel(paper_event_s, 1e-9));
    REQUIRE_THAT(twice_s, WithinRel(aligned_s, 1e-9));
    REQUIRE_THAT(twice_event_s, WithinRel(event_s, 1e-9));
  }
}

TEST_CASE("a node that many send to is as busy as one that sends to many") {
  const Platform platform = memory_and_network(unit_platform(2));
  const TauLop model(platform, BeyondMeasured::proportional);
  const Placement placement(platform, {0, 1, 2, 3});
  const MessagePattern gather{"gather", 4, {Phase{{{1, 0, 9}, {2, 0, 9}, {3, 0, 9}}, Sends::at_once}}};
  const MessagePattern scatter{"scatter", 4, {Phase{{{0, 1, 9}, {0, 2, 9}, {0, 3, 9}}, Sends::at_once}}};
  const MessagePattern ring{"ring", 4, {Phase{{{0, 1, 9}, {1, 2, 9}, {2, 3, 9}, {3, 0, 9}}, Sends::at_once}}};
  for (const MessagePattern& pattern : {gather, scatter}) {
    CHECK(to_string(aligned_form(expression(pattern, placement), model)) == "3||T1(9)");
  }
  // Every node sends one and receives one.
  CHECK(to_string(aligned_form(expression(ring, placement), model)) == "2||T1(9)");
}

TEST_CASE("a pattern without messages is nothing, in no time") {
  CHECK(text_of({}).empty());
  CHECK(text_of({Phase{}, Phase{}}).empty());
  CHECK(serial_cost_s({"none", 4, {Phase{}}}, latency_and_bytes_s) == 0.0);
  CHECK(serial_cost_s({"none", 0, {}}, latency_and_bytes_s) == 0.0);
}

TEST_CASE("without contention a phase takes as long as its busiest sender, a pattern as long as all its phases") {
  const Phase phase{{{0, 1, 1}, {2, 3, 30}, {0, 2, 10}, {0, 3, 20}, {1, 0, 35}}, Sends::in_order};
  // Process 0 sends three messages of 31 bytes together, 1 and 2 one each.
  CHECK_THAT(serial_cost_s({"test", 4, {phase}}, latency_and_bytes_s), WithinRel(3 * 5.0 + 2.0 * 31.0, 1e-12));
  const Phase next{{{3, 0, 4}, {1, 2, 3}}, Sends::at_once};
  CHECK_THAT(serial_cost_s({"test", 4, {phase, Phase{}, next}}, latency_and_bytes_s),
             WithinRel(77.0 + 5.0 + 8.0, 1e-12));
}

TEST_CASE("without contention it does not matter whether a process waits between its messages") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    MessagePattern pattern = random_pattern(random, 6);
    const double seconds = serial_cost_s(pattern, latency_and_bytes_s);
    for (Phase& phase : pattern.phases) {
      phase.sends = phase.sends == Sends::at_once ? Sends::in_order : Sends::at_once;
    }
    REQUIRE(serial_cost_s(pattern, latency_and_bytes_s) == seconds);
  }
}

TEST_CASE("receivers cost nothing of their own: only the sender's messages add up") {
  const MessagePattern gather{"gather", 4, {Phase{{{1, 0, 9}, {2, 0, 9}, {3, 0, 9}}, {}}}};
  const MessagePattern scatter{"scatter", 4, {Phase{{{0, 1, 9}, {0, 2, 9}, {0, 3, 9}}, {}}}};
  CHECK_THAT(serial_cost_s(gather, latency_and_bytes_s), WithinRel(23.0, 1e-12));
  CHECK_THAT(serial_cost_s(scatter, latency_and_bytes_s), WithinRel(69.0, 1e-12));
}

TEST_CASE("costs do not depend on what processes are called") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const int processes = whole(random, 2, 8);
    const MessagePattern pattern = random_pattern(random, processes);
    const std::vector<int> nodes = random_nodes(random, processes);
    std::vector<int> names(static_cast<std::size_t>(processes));
    std::iota(names.begin(), names.end(), 0);
    std::ranges::shuffle(names, random);
    std::vector<int> renamed_nodes(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) renamed_nodes[static_cast<std::size_t>(names[i])] = nodes[i];
    const MessagePattern other = renamed(pattern, names);

    REQUIRE(serial_cost_s(other, latency_and_bytes_s) == serial_cost_s(pattern, latency_and_bytes_s));
    const Platform platform = memory_and_network(measured_platform(random, 2));
    const TauLop model(platform);
    const Expression one = expression(pattern, Placement(platform, nodes));
    const Expression two = expression(other, Placement(platform, renamed_nodes));
    INFO(to_string(one) << " and " << to_string(two));
    REQUIRE(similar(aligned_form(one, model), aligned_form(two, model)));
    REQUIRE_THAT(cost_s(event_form(two, model), model), WithinRel(cost_s(event_form(one, model), model), 1e-9));
  }
}

TEST_CASE("a pattern costs what its phases cost, one by one") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const MessagePattern pattern = random_pattern(random, 6);
    const Platform platform = memory_and_network(measured_platform(random, 2));
    const TauLop model(platform);
    const Placement placement(platform, random_nodes(random, 6));
    const Evaluation no_merging{std::numeric_limits<double>::infinity()};
    double sum_s = 0.0;
    for (const Phase& phase : pattern.phases) {
      sum_s += cost_s(aligned_form(expression({"phase", 6, {phase}}, placement), model, no_merging), model);
    }
    const Expression whole = expression(pattern, placement);
    REQUIRE_THAT(cost_s(aligned_form(whole, model, no_merging), model), WithinRel(sum_s, 1e-9));
  }
}

TEST_CASE("messages that nobody can send or receive are refused with pattern, processes and size") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const Message& message : {Message{-1, 0, 1}, {0, -1, 1}, {4, 0, 1}, {0, 4, 1}, {2, 2, 1}}) {
    const MessagePattern pattern{"odd", 4, {Phase{}, Phase{{{0, 1, 1}, message}, {}}}};
    const std::string what = "odd: message from " + std::to_string(message.from) + " to " + std::to_string(message.to);
    CHECK_THROWS_MATCHES(require_pattern(pattern), InvalidArgument, MessageMatches(ContainsSubstring(what)));
    CHECK_THROWS_AS(expression(pattern, two_nodes()), InvalidArgument);
    CHECK_THROWS_AS(serial_cost_s(pattern, latency_and_bytes_s), InvalidArgument);
  }
  for (const double bytes : {-1.0, infinity, not_a_number}) {
    const MessagePattern pattern{"odd", 4, {Phase{{{0, 1, bytes}}, {}}}};
    CHECK_THROWS_MATCHES(require_pattern(pattern), InvalidArgument, MessageMatches(ContainsSubstring("bytes")));
    CHECK_THROWS_AS(expression(pattern, two_nodes()), InvalidArgument);
    CHECK_THROWS_AS(serial_cost_s(pattern, latency_and_bytes_s), InvalidArgument);
  }
  require_pattern({"fine", 4, {Phase{{{0, 1, 0.0}, {3, 0, 1e300}}, {}}}});
}

TEST_CASE("a pattern of processes that are placed nowhere is refused") {
  const MessagePattern pattern{"too many", 6, {Phase{{{0, 5, 1}}, {}}}};
  CHECK_THROWS_MATCHES(expression(pattern, two_nodes()), InvalidArgument,
                       MessageMatches(ContainsSubstring("from process 0 to 5")));
}

}  // namespace steelyard::test_message_pattern
