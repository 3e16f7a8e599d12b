#include <map>
#include <set>

#include "models/communication/cost_models.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_cost_models {

using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

using Ids = std::set<int>;
using Names = std::vector<std::string>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Memory 0 and network 1 with random parameters of every model, and a device link 7 through a channel 8 of nothing.
Platform random_platform(Random& random) {
  Platform platform = tests::measured_platform(random, 2);
  platform.channels[1].scope = Channel::Scope::network;
  for (Channel& channel : platform.channels) {
    channel.hockney = {{40.0, {uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)}},
                       {infinity, {uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)}}};
    channel.loggp = LogGP{uniform(random, 0.0, 9.0), uniform(random, 0.0, 9.0), uniform(random, 0.0, 9.0),
                          uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)};
  }
  Channel device = platform.channels[0];
  device.id = 7;
  device.scope = Channel::Scope::device;
  device.path = {7, 8};
  device.tau_lop->overhead = SizeTable({{1e9, 1e9}}, SizeTable::Outside::constant);
  Channel on_the_way;
  on_the_way.id = 8;
  on_the_way.scope = Channel::Scope::device;
  platform.channels.insert(platform.channels.end(), {device, on_the_way});
  return platform;
}

MessagePattern random_pattern(Random& random, int processes) {
  MessagePattern pattern{"random", processes, {}};
  for (int phases = whole(random, 1, 3); phases > 0; --phases) {
    Phase phase{{}, whole(random, 0, 1) == 0 ? Phase::Sends::in_order : Phase::Sends::at_once};
    for (int count = whole(random, 0, 2 * processes); count > 0; --count) {
      const int from = whole(random, 0, processes - 1);
      const double bytes = whole(random, 0, 4) == 0 ? 0.0 : uniform(random, 1.0, 99.0);
      phase.messages.push_back({from, (from + whole(random, 1, processes - 1)) % processes, bytes});
    }
    pattern.phases.push_back(phase);
  }
  return pattern;
}

/// Without contention a phase takes as long as its busiest sender, a pattern as long as all its phases.
template <class Seconds>
double without_contention_s(const MessagePattern& pattern, const Seconds& message_s) {
  double all_s = 0.0;
  for (const Phase& phase : pattern.phases) {
    std::map<int, double> sums_s;
    double longest_s = 0.0;
    for (const Message& message : phase.messages) {
      sums_s[message.from] += message_s(message);
      longest_s = std::max(longest_s, sums_s[message.from]);
    }
    all_s += longest_s;
  }
  return all_s;
}

/// Channels of all messages.
Ids channels_of(const MessagePattern& pattern, const Placement& placement) {
  Ids ids;
  for (const Phase& phase : pattern.phases) {
    for (const Message& message : phase.messages) ids.insert(placement.channel(message.from, message.to).channel);
  }
  return ids;
}

Names names_of(const std::vector<PatternCosts>& costs) {
  Names names;
  for (const PatternCosts& one : costs) names.push_back(one.model);
  return names;
}

}  // namespace

TEST_CASE("each model says what the single models say of random messages, whatever channels in no use have") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int processes = whole(random, 2, 6);
    std::vector<int> nodes;
    for (int i = 0; i < processes; ++i) nodes.push_back(whole(random, 0, trial % 4 == 0 ? 0 : 2));
    const Platform platform = random_platform(random);
    const Placement placement(platform, nodes);
    const std::vector<MessagePattern> patterns{
        random_pattern(random, processes), random_pattern(random, processes), {"none", processes, {Phase{}}}};
    Ids used = channels_of(patterns[0], placement);
    used.merge(channels_of(patterns[1], placement));
    const auto channel = [&](const Message& message) {
      return platform.channel(placement.channel(message.from, message.to).channel);
    };
    const TauLop tau_lop(platform, BeyondMeasured::proportional);
    const Evaluation longer{std::nextafter(tau_lop.overhead_matters_up_to_bytes(used), infinity)};
    const std::vector<PatternCosts> costs = pattern_costs(patterns, platform, placement);
    REQUIRE(names_of(costs) == Names{"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"});
    REQUIRE(names_of(costs) == cost_model_names());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const Expression sent = expression(patterns[i], placement);
      const std::vector<double> expected_s{
          cost_s(aligned_form(sent, tau_lop, longer), tau_lop, longer),
          cost_s(event_form(sent, tau_lop, longer), tau_lop, longer),
          without_contention_s(patterns[i], [&](const Message& one) { return channel(one).loggp->time_s(one.bytes); }),
          without_contention_s(patterns[i], [&](const Message& one) { return channel(one).time_s(one.bytes); })};
      for (std::size_t model = 0; model < costs.size(); ++model) {
        REQUIRE_THAT(costs[model].time_s.at(i), WithinRel(expected_s[model]));
      }
    }
  }
}

TEST_CASE("models are offered that have parameters for all channels in use and on their way, whatever others have") {
  Random random(2);
  for (int have = 0; have < 64; ++have) {
    Platform platform = random_platform(random);
    platform.channels[0].path = {0};
    platform.channels[1].path = have % 4 < 2 ? std::vector<int>{0, 1, 0} : std::vector<int>{0};
    for (std::size_t i = 0; i < 2; ++i) {
      const int mine = have >> (3 * i);
      if ((mine & 1) == 0) platform.channels[i].tau_lop.reset();
      if ((mine & 2) == 0) platform.channels[i].loggp.reset();
      if ((mine & 4) == 0) platform.channels[i].hockney.clear();
    }
    const Placement placement(platform, {0, 0, 1});
    for (const Ids& channels : {Ids{0}, Ids{1}, Ids{0, 1}}) {
      INFO("parameters " << have << ", " << channels.size() << " channels from " << *channels.begin());
      const auto all = [&](int model) {
        return std::all_of(channels.begin(), channels.end(), [&](int id) { return ((have >> (3 * id)) & model) != 0; });
      };
      std::vector<MessagePattern> patterns;
      for (const int id : channels) patterns.push_back({"one", 3, {Phase{{{0, id + 1, 8.0}}, {}}}});
      Names expected;
      if (all(1) && (have & 1) != 0) expected = {"tau-Lop", "tau-Lop event"};  // channel 1 goes through 0
      if (all(2)) expected.emplace_back("HLogGP");
      if (all(4)) expected.emplace_back("Hockney");
      if (expected.empty()) {
        const std::string ids = channels.size() == 2 ? "0, 1" : std::to_string(*channels.begin());
        CHECK_THROWS_MATCHES(pattern_costs(patterns, platform, placement), InvalidArgument,
                             MessageMatches(ContainsSubstring("platform: channels " + ids + " ")));
        continue;
      }
      CHECK(names_of(pattern_costs(patterns, platform, placement)) == expected);
    }
  }
}

TEST_CASE("nothing to send costs nothing by all models, whatever the platform has") {
  const std::vector<MessagePattern> patterns{{"none", 1, {}}, {"empty", 1, {Phase{}}}};
  const Platform nothing;
  const std::vector<PatternCosts> costs = pattern_costs(patterns, nothing, Placement(nothing, {0}));
  CHECK(names_of(costs) == cost_model_names());
  for (const PatternCosts& one : costs) CHECK(one.time_s == std::vector<double>{0.0, 0.0});
}

}  // namespace steelyard::test_cost_models
