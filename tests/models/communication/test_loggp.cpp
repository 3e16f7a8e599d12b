#include <functional>

#include "models/communication/cost_models.hpp"
#include "models/communication/loggp.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_loggp {

using namespace steelyard::models;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const LogGP network{1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9};
const LogGP memory{2e-7, 1e-7, 1e-7, 2e-7, 1e-10};

LogGP random_model(std::mt19937_64& random) {
  std::uniform_real_distribution<double> factor(0.1, 10.0);
  return {1e-6 * factor(random), 1e-7 * factor(random), 1e-7 * factor(random), 1e-6 * factor(random),
          1e-9 * factor(random)};
}

/// When the last of a train is received, message by message: a send begins when the one before is done with and enters
/// the network a gap behind its last byte; the receiver takes one at a time.
double simulated_train_s(const LogGP& model, int messages, double bytes) {
  double sender_free_s = 0.0, network_free_s = 0.0, receiver_free_s = 0.0;
  for (int i = 0; i < messages; ++i) {
    sender_free_s += model.send_overhead_s;
    const double first_byte_s = std::max(sender_free_s, network_free_s);
    const double last_byte_s = first_byte_s + (std::max(bytes, 1.0) - 1.0) * model.gap_per_byte_s;
    network_free_s = last_byte_s + model.gap_s;
    receiver_free_s = std::max(receiver_free_s, last_byte_s + model.latency_s) + model.receive_overhead_s;
  }
  return receiver_free_s;
}

/// A message of a long train.
double train_s(const LogGP& model, double bytes) {
  return std::max({model.gap_s + (std::max(bytes, 1.0) - 1.0) * model.gap_per_byte_s, model.send_overhead_s,
                   model.receive_overhead_s});
}

/// What would be measured on a channel that is as the model says.
LogGPTimes exact_times(const LogGP& model, double smallest, double largest) {
  LogGPTimes times{{}, model.send_overhead_s, model.receive_overhead_s, {}};
  for (double bytes = smallest; bytes <= largest; bytes *= 2.0) {
    times.one_way.push_back({bytes, model.time_s(bytes)});
    times.trains.push_back({bytes, train_s(model, bytes)});
  }
  return times;
}

void refused(const std::function<void()>& call, const std::string& what) {
  CHECK_THROWS_MATCHES(call(), InvalidArgument, MessageMatches(ContainsSubstring(what)));
}

}  // namespace

TEST_CASE("messages take what a simulation message by message says, one without bytes as one of a byte") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const LogGP model = random_model(random);
    for (const double bytes : {0.0, 1.0, 100.0, 10000.0}) {
      REQUIRE_THAT(model.time_s(bytes), WithinRel(simulated_train_s(model, 1, bytes), 1e-9));
      REQUIRE_THAT((simulated_train_s(model, 1001, bytes) - model.time_s(bytes)) / 1000.0,
                   WithinRel(train_s(model, bytes), 1e-9));
    }
  }
  CHECK(network.time_s(infinity) == infinity);
  for (const double bad : {-1.0, -infinity, not_a_number}) CHECK_THROWS_AS(network.time_s(bad), InvalidArgument);
}

TEST_CASE("a fit of exact messages and trains gives LogGP's parameters back") {
  std::mt19937_64 random(3);
  const double smallest = GENERATE(1.0, 8.0, 1024.0);
  for (int trial = 0; trial < 50; ++trial) {
    LogGP model = random_model(random);
    model.gap_s = std::max({model.gap_s, model.send_overhead_s, model.receive_overhead_s});  // else hidden in trains
    LogGPTimes times = exact_times(model, smallest, 1 << 22);
    if (trial % 2 == 0) {  // the median of the shortest counts, wherever it stands
      std::reverse(times.one_way.begin(), times.one_way.end());
      times.one_way.insert(times.one_way.begin(), {smallest, 1.0});
      times.one_way.push_back({smallest, 1e-9});
    }
    const LogGP fit = fit_loggp(times);
    REQUIRE(fit.send_overhead_s == model.send_overhead_s);
    REQUIRE(fit.receive_overhead_s == model.receive_overhead_s);
    REQUIRE_THAT(fit.latency_s, WithinRel(model.latency_s, 1e-6));
    REQUIRE_THAT(fit.gap_s, WithinRel(model.gap_s, 1e-6));
    REQUIRE_THAT(fit.gap_per_byte_s, WithinRel(model.gap_per_byte_s, 1e-6));
  }
}

TEST_CASE("a fit of noisy times takes what was measured for the shortest message and its train") {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  for (int trial = 0; trial < 100; ++trial) {
    LogGPTimes times = exact_times(network, 1.0, 1 << 20);
    for (auto* messages : {&times.one_way, &times.trains}) {
      for (MessageTime& message : *messages) message.time_s *= noise(random);
    }
    const LogGP fit = fit_loggp(times);
    REQUIRE_THAT(fit.time_s(1.0), WithinRel(times.one_way.front().time_s, 1e-12));
    REQUIRE_THAT(train_s(fit, 1.0), WithinRel(times.trains.front().time_s, 1e-9));
    REQUIRE_THAT(fit.gap_per_byte_s, WithinRel(network.gap_per_byte_s, 0.15));
    times.send_overhead_s = 1e-3;  // longer than the message
    REQUIRE(fit_loggp(times).latency_s == 0.0);
  }
}

TEST_CASE("LogGPH takes the level's LogGP; sequences add up, and of concurrent transmissions the longest counts") {
  Platform platform;
  for (int id = 0; id < 3; ++id) platform.channels.emplace_back().id = id;
  platform.channels[0].loggp = memory;
  platform.channels[1].loggp = network;
  const auto cost_s = [&](const char* text, double block) {
    return loggph_cost_s(parse_expression(text), platform, block);
  };
  CHECK(cost_s("T0(1e4)", 1.0) == memory.time_s(1e4));
  CHECK(cost_s("T1(0)", 2.0) == network.time_s(0.0));
  const double near_s = memory.time_s(600.0), far_s = network.time_s(20.0);
  CHECK(cost_s("T0(300) + T1(10)", 2.0) == near_s + far_s);
  CHECK(cost_s("3||T0(300) || T1(10)", 2.0) == std::max(near_s, far_s));
  CHECK(loggph_cost_s(Expression{}, platform, 1.0) == 0.0);
  refused([&] { cost_s("T0(1) + T2(1)", 1.0); }, "channel 2 () has no LogGP");
  refused([&] { cost_s("T3(1)", 1.0); }, "no channel 3");
}

TEST_CASE("measurements and parameters that mean nothing are refused") {
  const LogGPTimes good = exact_times(network, 1.0, 1 << 10);
  const auto refused_if = [&](const std::function<void(LogGPTimes&)>& change, const std::string& what) {
    LogGPTimes times = good;
    change(times);
    refused([&] { fit_loggp(times); }, what);
  };
  refused_if([](LogGPTimes& times) { times.one_way.clear(); }, "one-way");
  refused_if([](LogGPTimes& times) { times.trains.resize(1); }, "two sizes");
  refused_if(
      [](LogGPTimes& times) {
        for (MessageTime& train : times.trains) train.time_s = 1.0 / (1.0 + train.bytes);
      },
      "do not grow");
  for (const double bad : {-1e-6, infinity, not_a_number}) {
    refused_if([=](LogGPTimes& times) { times.send_overhead_s = bad; }, "send overhead");
    refused_if([=](LogGPTimes& times) { times.receive_overhead_s = bad; }, "receive overhead");
    refused_if([=](LogGPTimes& times) { times.one_way[3].time_s = bad; }, "bytes");
    refused_if([=](LogGPTimes& times) { times.trains[3].time_s = bad; }, "message");
  }
}

}  // namespace steelyard::test_loggp
