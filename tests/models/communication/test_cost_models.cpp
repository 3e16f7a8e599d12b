#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/cost_models.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_cost_models {

using namespace steelyard::models;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

using Ids = std::set<int>;
using Names = std::vector<std::string>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Memory 0 and network 1 with parameters of every model: 4 and 1 bytes a second. tau-Lop's k transmissions at once
/// each take k^alpha times as long as one, for k up to `most`, without overheads.
Platform full_platform(double alpha = 1.0, int most = 64) {
  Platform platform = tests::additive_platform({{0, {4.0, alpha}}, {1, {1.0, alpha}}}, most);
  platform.channels[1].scope = Channel::Scope::network;
  platform.channels[0].hockney = {{infinity, {1.0, 4.0}}};
  platform.channels[1].hockney = {{infinity, {2.0, 1.0}}};
  platform.channels[0].loggp = LogGP{0.5, 0.25, 0.125, 9.0, 0.25};
  platform.channels[1].loggp = LogGP{3.0, 5.0, 7.0, 9.0, 1.0};
  return platform;
}

/// Of message patterns. The functions that it is made of are gone when it returns.
std::vector<CostModel<MessagePattern>> models_of(const Platform& platform, const Placement& placement,
                                                 const Ids& channels) {
  const auto in_tau_lop = std::make_unique<std::function<Expression(const MessagePattern&, const Placement&)>>(
      [](const MessagePattern& pattern, const Placement& at) { return expression(pattern, at); });
  const auto serial_s =
      std::make_unique<std::function<double(const MessagePattern&, const std::function<double(const Message&)>&)>>(
          [](const MessagePattern& pattern, const std::function<double(const Message&)>& message_s) {
            return serial_cost_s(pattern, message_s);
          });
  return cost_models<MessagePattern>(platform, placement, channels, *in_tau_lop, *serial_s);
}

template <class Messages>
Names names_of(const std::vector<CostModel<Messages>>& models) {
  Names names;
  for (const auto& model : models) names.push_back(model.name);
  return names;
}

Names offered(const Platform& platform, const Ids& channels) {
  const Placement placement(platform, {0, 0});
  return names_of(models_of(platform, placement, channels));
}

void expect_none(const Platform& platform, const Ids& channels, const std::string& what) {
  const auto refused = [&](const auto& call) {
    CHECK_THROWS_MATCHES(
        call(), InvalidArgument,
        MessageMatches(ContainsSubstring(what) && ContainsSubstring("expected") && ContainsSubstring("tau-Lop") &&
                       ContainsSubstring("LogGP") && ContainsSubstring("Hockney")));
  };
  refused([&] { modelled_by(platform, channels); });
  refused([&] { offered(platform, channels); });
}

/// Process 0 sends 8 bytes through memory and 6 through the network, one after the other; 1 sends 6 through the
/// network.
MessagePattern two_senders() {
  return {"two senders", 3, {Phase{{{0, 1, 8.0}, {0, 2, 6.0}, {1, 2, 6.0}}, Phase::Sends::in_order}}};
}

}  // namespace

TEST_CASE("models have these names, in this order") {
  CHECK(cost_model_names() == Names{"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"});
  CHECK(offered(full_platform(), {0, 1}) == cost_model_names());
}

TEST_CASE("each model says what it says by hand") {
  const Platform platform = full_platform(0.5);
  const Placement placement(platform, {0, 0, 1});
  const auto models = models_of(platform, placement, {0, 1});
  REQUIRE(names_of(models) == cost_model_names());
  // Memory first, as if process 1 waited for it, then both in the network.
  CHECK_THAT(models[0].cost_s(two_senders()), WithinRel(8.0 / 4.0 + std::sqrt(2.0) * 6.0, 1e-12));
  // Process 1 has the network for the 2 s that process 0 takes in memory; then they share it until 1 is through, who
  // has 4 bytes left, and 0 sends its last 2 bytes alone.
  CHECK_THAT(models[1].cost_s(two_senders()), WithinRel(2.0 + std::sqrt(2.0) * 4.0 + 2.0, 1e-12));
  // The busier sender is process 0.
  CHECK_THAT(models[2].cost_s(two_senders()),
             WithinRel(0.5 + 0.25 + 0.125 + 7 * 0.25 + 3.0 + 5.0 + 7.0 + 5 * 1.0, 1e-12));
  CHECK_THAT(models[3].cost_s(two_senders()), WithinRel(1.0 + 8.0 / 4.0 + 2.0 + 6.0 / 1.0, 1e-12));
}

TEST_CASE("each model says what the single models say of random messages") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int processes = whole(random, 2, 6);
    std::vector<int> nodes;
    for (int i = 0; i < processes; ++i) nodes.push_back(whole(random, 0, 2));
    Platform platform = tests::measured_platform(random, 2);
    platform.channels[1].scope = Channel::Scope::network;
    for (Channel& channel : platform.channels) {
      channel.hockney = {{40.0, {uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)}},
                         {infinity, {uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)}}};
      channel.loggp = LogGP{uniform(random, 0.0, 9.0), uniform(random, 0.0, 9.0), uniform(random, 0.0, 9.0),
                            uniform(random, 0.0, 9.0), uniform(random, 0.1, 9.0)};
    }
    MessagePattern pattern{"random", processes, {}};
    for (int phases = whole(random, 1, 3); phases > 0; --phases) {
      Phase phase{{}, whole(random, 0, 1) == 0 ? Phase::Sends::in_order : Phase::Sends::at_once};
      for (int count = whole(random, 0, 2 * processes); count > 0; --count) {
        const int from = whole(random, 0, processes - 1);
        phase.messages.push_back({from, (from + whole(random, 1, processes - 1)) % processes, uniform(random, 1, 99)});
      }
      pattern.phases.push_back(phase);
    }
    const Placement placement(platform, nodes);
    const auto channel = [&](const Message& message) {
      return platform.channel(placement.channel(message.from, message.to).channel);
    };
    const TauLop tau_lop(platform, BeyondMeasured::proportional);
    const Evaluation longer{std::nextafter(tau_lop.overhead_matters_up_to_bytes(), infinity)};
    const Expression sent = expression(pattern, placement);
    const auto models = models_of(platform, placement, {0, 1});
    REQUIRE(names_of(models) == cost_model_names());
    REQUIRE_THAT(models[0].cost_s(pattern), WithinRel(cost_s(aligned_form(sent, tau_lop, longer), tau_lop, longer)));
    REQUIRE_THAT(models[1].cost_s(pattern), WithinRel(cost_s(event_form(sent, tau_lop, longer), tau_lop, longer)));
    REQUIRE_THAT(models[2].cost_s(pattern), WithinRel(serial_cost_s(pattern, [&](const Message& message) {
                   return channel(message).loggp->time_s(message.bytes);
                 })));
    REQUIRE_THAT(models[3].cost_s(pattern), WithinRel(serial_cost_s(pattern, [&](const Message& message) {
                   return channel(message).time_s(message.bytes);
                 })));
  }
}

TEST_CASE("transfers beyond the measured concurrency take time in proportion") {
  const Platform platform = full_platform(0.5, 2);
  const Placement placement(platform, {0, 0, 0, 0, 0, 0});
  MessagePattern ring{"ring", 6, {Phase{}}};
  for (int i = 0; i < 6; ++i) ring.phases[0].messages.push_back({i, (i + 1) % 6, 12.0});
  const auto models = models_of(platform, placement, {0});
  for (const std::size_t i : {0, 1}) CHECK_THAT(models[i].cost_s(ring), WithinRel(3 * std::sqrt(2.0) * 3.0, 1e-12));
}

TEST_CASE("messages of which overhead is much keep it one by one, long ones may be sent as one") {
  Platform platform;
  platform.channels.emplace_back().path = {0};
  platform.channels[0].tau_lop = TauLopTables{SizeTable({{1.0, 5.0}, {1e6, 5.0}}, SizeTable::Outside::constant),
                                              TransferTable({{1.0, 1, 1.0}, {1e6, 1, 1e6}})};
  const Placement placement(platform, {0, 0});
  const auto models = models_of(platform, placement, {0});
  REQUIRE(names_of(models) == Names{"tau-Lop", "tau-Lop event"});
  const auto two_of = [](double bytes) {
    return MessagePattern{"two", 2, {Phase{{{0, 1, bytes}, {0, 1, bytes}}, Phase::Sends::in_order}}};
  };
  for (const auto& model : models) {
    CHECK_THAT(model.cost_s(two_of(1.0)), WithinRel(5.0 + 1.0 + 5.0 + 1.0, 1e-12));
    CHECK_THAT(model.cost_s(two_of(2e6)), WithinRel(5.0 + 4e6, 1e-12));
  }
}

TEST_CASE("models are offered that have parameters for all channels in use, whatever the others have") {
  for (int have = 0; have < 64; ++have) {
    Platform platform = full_platform();
    for (std::size_t i = 0; i < 2; ++i) {
      Channel& channel = platform.channels[i];
      const int mine = have >> (3 * i);
      if ((mine & 1) == 0) channel.tau_lop.reset();
      if ((mine & 2) == 0) channel.loggp.reset();
      if ((mine & 4) == 0) channel.hockney.clear();
    }
    for (const Ids& channels : {Ids{0}, Ids{1}, Ids{0, 1}}) {
      INFO("parameters " << have << ", " << channels.size() << " channels from " << *channels.begin());
      const auto all = [&](int model) {
        return std::all_of(channels.begin(), channels.end(), [&](int id) { return ((have >> (3 * id)) & model) != 0; });
      };
      Names expected;
      if (all(1)) expected = {"tau-Lop", "tau-Lop event"};
      if (all(2)) expected.emplace_back("HLogGP");
      if (all(4)) expected.emplace_back("Hockney");
      if (expected.empty()) {
        expect_none(platform, channels,
                    channels.size() == 2 ? "channels 0, 1 " : "channels " + std::to_string(*channels.begin()) + " ");
        continue;
      }
      const ModelledBy by = modelled_by(platform, channels);
      CHECK(by.tau_lop == all(1));
      CHECK(by.loggp == all(2));
      CHECK(by.hockney == all(4));
      CHECK(offered(platform, channels) == expected);
    }
  }
}

TEST_CASE("tau-Lop also needs the tables of what is on a channel's way") {
  Platform platform = full_platform();
  platform.channels[1].path = {0, 1, 0};
  CHECK(offered(platform, {1}) == cost_model_names());
  platform.channels[0].tau_lop.reset();
  CHECK(offered(platform, {1}) == Names{"HLogGP", "Hockney"});
  CHECK_FALSE(modelled_by(platform, {1}).tau_lop);
  platform.channels[1].loggp.reset();
  platform.channels[1].hockney.clear();
  expect_none(platform, {1}, "channels 1 ");
  // Its own table does not help where it is not on its own way, and is needed for the overhead.
  platform = full_platform();
  platform.channels[1].path = {0};
  platform.channels[1].tau_lop.reset();
  CHECK(offered(platform, {1}) == Names{"HLogGP", "Hockney"});
}

TEST_CASE("channels that nobody uses need no parameters, on their way neither") {
  Platform platform = full_platform();
  Channel device = platform.channels[0];
  device.id = 7;
  device.scope = Channel::Scope::device;
  device.path = {7, 8};
  Channel on_the_way;
  on_the_way.id = 8;
  on_the_way.scope = Channel::Scope::device;
  platform.channels.insert(platform.channels.end(), {device, on_the_way});
  CHECK(modelled_by(platform, {0, 1}).tau_lop);
  const Placement placement(platform, {0, 0, 1});
  const auto models = models_of(platform, placement, {0, 1});
  REQUIRE(names_of(models) == cost_model_names());
  CHECK_THAT(models[0].cost_s(two_senders()), WithinRel(8.0 / 4.0 + 2.0 * 6.0, 1e-12));
}

TEST_CASE("what channels that nobody uses have changes no cost") {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    Platform platform = tests::measured_platform(random, 2);
    platform.channels[1].scope = Channel::Scope::network;
    MessagePattern pattern{"inside", 3, {Phase{}}};
    for (int count = whole(random, 1, 9); count > 0; --count) {
      const int from = whole(random, 0, 2);
      pattern.phases[0].messages.push_back({from, (from + whole(random, 1, 2)) % 3, uniform(random, 1.0, 500.0)});
    }
    const Placement one_node(platform, {0, 0, 0});
    const auto models = models_of(platform, one_node, {0});
    Platform without = platform;
    without.channels.pop_back();
    const auto alone = models_of(without, one_node, {0});
    REQUIRE(names_of(models) == Names{"tau-Lop", "tau-Lop event"});
    for (std::size_t i = 0; i < models.size(); ++i) {
      REQUIRE(models[i].cost_s(pattern) == alone[i].cost_s(pattern));
    }
  }
}

TEST_CASE("without any messages every model says that they take no time, whatever the platform has") {
  const Platform nothing;
  const Placement placement(nothing, {0, 0});
  const auto models = models_of(nothing, placement, {});
  REQUIRE(names_of(models) == cost_model_names());
  for (const auto& model : models) CHECK(model.cost_s({"none", 2, {Phase{}}}) == 0.0);
}

TEST_CASE("without a model the platform's file and the channels are named") {
  Platform platform = full_platform();
  platform.channels[0].tau_lop.reset();
  platform.channels[0].hockney.clear();
  platform.channels[1].loggp.reset();
  platform.channels[1].tau_lop.reset();
  expect_none(platform, {0, 1}, "platform: channels 0, 1 ");
  platform.path = "lab.platform.json";
  expect_none(platform, {0, 1}, "lab.platform.json: channels 0, 1 ");
  CHECK_THROWS_MATCHES(modelled_by(platform, {0, 5}), InvalidArgument, MessageMatches(ContainsSubstring("channel 5")));
}

TEST_CASE("an app's own messages cost what the app makes of them") {
  struct Copies {
    int count = 0;
  };
  const Platform platform = full_platform();
  const Placement placement(platform, {0, 0});
  const auto models = cost_models<Copies>(
      platform, placement, {0},
      [&](const Copies& copies, const Placement& at) {
        CHECK(&at == &placement);
        return times(copies.count, transmission(at.channel(0, 1), 8.0));
      },
      [](const Copies& copies, const std::function<double(const Message&)>& message_s) {
        return copies.count * message_s({1, 0, 8.0});
      });
  REQUIRE(names_of(models) == cost_model_names());
  CHECK_THAT(models[0].cost_s({3}), WithinRel(3 * 2.0, 1e-12));
  CHECK_THAT(models[1].cost_s({3}), WithinRel(3 * 2.0, 1e-12));
  CHECK_THAT(models[2].cost_s({3}), WithinRel(3 * (0.875 + 7 * 0.25), 1e-12));
  CHECK_THAT(models[3].cost_s({3}), WithinRel(3 * 3.0, 1e-12));
}

}  // namespace steelyard::test_cost_models
