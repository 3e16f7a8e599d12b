#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/log_np.hpp"
#include "models/communication/loggp.hpp"
#include "models/communication/loggph.hpp"

namespace steelyard::test_loggp {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using Processes = std::vector<HLogGP::Process>;
using Links = std::vector<HLogGP::Link>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const LogGP network{1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9};
const LogGPH two_levels{{{2e-7, 1e-7, 1e-7, 2e-7, 1e-10}, network}};

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

/// What would be measured on a channel that is as the model says.
LogGPTimes exact_times(const LogGP& model, double smallest, double largest) {
  LogGPTimes times{{}, model.send_overhead_s, model.receive_overhead_s, {}};
  for (double bytes = smallest; bytes <= largest; bytes *= 2.0) {
    times.one_way.push_back({bytes, model.time_s(bytes)});
    times.trains.push_back({bytes, (model.train_s(1001, bytes) - model.time_s(bytes)) / 1000.0});
  }
  return times;
}

/// Calls check(from, to, bytes) for each two different processes and sizes from 0 to a gigabyte.
template <class Check>
void for_each_message(const HLogGP& model, const Check& check) {
  for (int from = 0; from < model.processes(); ++from) {
    for (int to = 0; to < model.processes(); ++to) {
      if (from == to) continue;
      for (const double bytes : {0.0, 1.0, 100.0, 1e5, 1e9}) check(from, to, bytes);
    }
  }
}

LogNP::SecondsOfSize line(double latency_s, double seconds_per_byte) {
  return [=](double bytes) { return latency_s + bytes * seconds_per_byte; };
}

void refused(const std::function<void()>& call, const std::string& what) {
  CHECK_THROWS_MATCHES(call(), InvalidArgument, MessageMatches(ContainsSubstring(what)));
}

}  // namespace

TEST_CASE("messages and trains take what a simulation message by message says, one without bytes as one of a byte") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const LogGP model = random_model(random);
    for (const double bytes : {0.0, 1.0, 100.0, 10000.0}) {
      REQUIRE(model.train_s(0, bytes) == 0.0);
      REQUIRE(model.train_s(1, bytes) == model.time_s(bytes));
      for (const int messages : {1, 2, 3, 10, 100}) {
        REQUIRE_THAT(model.train_s(messages, bytes), WithinRel(simulated_train_s(model, messages, bytes), 1e-9));
      }
    }
  }
  CHECK(network.time_s(infinity) == infinity);
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
    REQUIRE_THAT(fit.train_s(2, 1.0) - fit.time_s(1.0), WithinRel(times.trains.front().time_s, 1e-9));
    REQUIRE_THAT(fit.gap_per_byte_s, WithinRel(network.gap_per_byte_s, 0.15));
    times.send_overhead_s = 1e-3;  // longer than the message
    REQUIRE(fit_loggp(times).latency_s == 0.0);
  }
}

TEST_CASE("every link of HLogGP keeps the time of its own LogGP, whatever the links are") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::vector<LogGP>> links(6, std::vector<LogGP>(6));
    for (auto& row : links) {
      for (LogGP& link : row) link = random_model(random);
    }
    const HLogGP model = HLogGP::from_links(6, [&](int from, int to) { return links[from][to]; });
    for_each_message(model, [&](int from, int to, double bytes) {
      REQUIRE_THAT(model.time_s(from, to, bytes), WithinRel(links[from][to].time_s(bytes), 1e-12));
      REQUIRE(model.link(from, to).latency_s >= links[from][to].latency_s);
    });
  }
}

TEST_CASE("overheads and gaps that belong to processes are found again in the links of HLogGP") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    Processes ends;
    Links links;
    for (int i = 0; i < 5; ++i) {
      const LogGP some = random_model(random);
      ends.push_back({some.send_overhead_s, some.receive_overhead_s, some.gap_s});
    }
    for (int i = 0; i < 25; ++i) {
      const LogGP some = random_model(random);
      links.push_back({some.latency_s, some.gap_per_byte_s});
    }
    const HLogGP model(ends, links);
    const HLogGP again = HLogGP::from_links(5, [&](int from, int to) { return model.link(from, to); });
    for_each_message(model, [&](int from, int to, double bytes) {
      const auto &sender = ends[from], &receiver = ends[to];
      const auto& [latency_s, gap_per_byte_s] = links[5 * static_cast<std::size_t>(from) + to];
      const LogGP expected{latency_s, sender.send_overhead_s, receiver.receive_overhead_s,
                           std::max(sender.gap_s, receiver.gap_s), gap_per_byte_s};
      for (const HLogGP& built : {model, again}) {
        REQUIRE_THAT(built.time_s(from, to, bytes), WithinRel(expected.time_s(bytes), 1e-14));
        REQUIRE_THAT(built.link(from, to).train_s(10, bytes), WithinRel(expected.train_s(10, bytes), 1e-14));
      }
    });
  }
}

TEST_CASE("LogGPH takes the level's LogGP; sequences add up, and of concurrent transmissions the longest counts") {
  Platform platform;
  for (int id = 0; id < 3; ++id) {
    platform.channels.emplace_back().id = id;
    if (id < 2) platform.channels.back().loggp = two_levels.levels[static_cast<std::size_t>(id)];
  }
  const LogGPH model = LogGPH::of(platform);
  CHECK(model.levels.size() == 2);
  for (const int level : {0, 1}) CHECK(model.time_s(level, 1e4) == two_levels.levels[level].time_s(1e4));
  const double near_s = two_levels.time_s(0, 600.0), far_s = two_levels.time_s(1, 20.0);
  CHECK(two_levels.time_s(parse_expression("T0(300) + T1(10)"), 2.0) == near_s + far_s);
  CHECK(two_levels.time_s(parse_expression("3||T0(300) || T1(10)"), 2.0) == std::max(near_s, far_s));
  CHECK(two_levels.time_s(Expression{}, 1.0) == 0.0);
}

TEST_CASE("log_nP is the sum of its transfers, mlog_nP that of the level's") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(0.1, 10.0);
  MLogNP levels;
  for (int level = 0; level < 5; ++level) {
    LogNP& model = levels.levels.emplace_back();
    double sum_s = 0.0;
    for (int i = 0; i <= level; ++i) {
      const double overhead_s = 1e-7 * factor(random), latency_s = 1e-6 * factor(random), per_byte_s = 1e-9;
      model.transfers.push_back({line(overhead_s, 0.0), line(latency_s, per_byte_s)});
      sum_s += overhead_s + latency_s + 4096.0 * per_byte_s;
    }
    CHECK_THAT(model.time_s(4096.0), WithinRel(sum_s, 1e-12));
    CHECK(levels.time_s(level, 4096.0) == model.time_s(4096.0));
  }
}

TEST_CASE("sizes, numbers, levels and processes that are not there are refused") {
  const HLogGP model = HLogGP::from_links(3, [](int, int) { return network; });
  const LogNP copies{{{line(0.0, 0.0), line(0.0, 1e-9)}}};
  for (const double bad : {-1.0, -infinity, not_a_number}) {
    CHECK_THROWS_AS(network.time_s(bad), InvalidArgument);
    CHECK_THROWS_AS(network.train_s(0, bad), InvalidArgument);
    CHECK_THROWS_AS(model.time_s(0, 1, bad), InvalidArgument);
    CHECK_THROWS_AS(two_levels.time_s(0, bad), InvalidArgument);
    CHECK_THROWS_AS(copies.time_s(bad), InvalidArgument);
  }
  refused([] { network.train_s(-3, 8.0); }, "-3 messages");
  for (const int bad : {-1, 3}) {
    refused([&] { model.time_s(bad, 0, 8.0); }, "there are 3");
    refused([&] { model.time_s(0, bad, 8.0); }, "there are 3");
    refused([&] { two_levels.time_s(bad, 8.0); }, "it has 2");
    refused([&] { MLogNP{{copies}}.time_s(bad, 8.0); }, "level " + std::to_string(bad));
  }
  refused([&] { model.time_s(2, 2, 8.0); }, "itself");
  refused([] { two_levels.time_s(parse_expression("T2(1)"), 1.0); }, "level 2");
  refused([] { LogNP{}.time_s(8.0); }, "no transfers");
  refused([] { LogNP{{{line(0.0, 0.0), {}}}}.time_s(8.0); }, "transfer 0 has no latency");
  refused(
      [&] {
        LogNP{{copies.transfers[0], {line(-1e-6, 0.0), line(1.0, 0.0)}}}.time_s(8.0);
      },
      "transfer 1 of 8 bytes: overhead of -1e-06");
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
  refused([] { HLogGP(Processes{}, Links{}); }, "0 processes");
  refused([] { HLogGP(Processes(2), Links(3)); }, "2 processes with 3 links");
  refused([] { HLogGP::from_links(0, [](int, int) { return network; }); }, "0 processes");
  CHECK(HLogGP::from_links(1, [](int, int) { return network; }).processes() == 1);
  for (const double bad : {-1e-6, infinity, not_a_number}) {
    refused_if([=](LogGPTimes& times) { times.send_overhead_s = bad; }, "send overhead");
    refused_if([=](LogGPTimes& times) { times.receive_overhead_s = bad; }, "receive overhead");
    refused_if([=](LogGPTimes& times) { times.one_way[3].time_s = bad; }, "bytes");
    refused_if([=](LogGPTimes& times) { times.trains[3].time_s = bad; }, "message");
    refused([=] { HLogGP({{}, {bad, 0.0, 0.0}}, Links(4)); }, "process 1");
    refused([=] { HLogGP({{0.0, bad, 0.0}, {}}, Links(4)); }, "process 0");
    refused([=] { HLogGP({{0.0, 0.0, bad}, {}}, Links(4)); }, "process 0");
    refused([=] { HLogGP(Processes(2), {{}, {bad, 0.0}, {}, {}}); }, "from 0 to 1");
    refused([=] { HLogGP(Processes(2), {{}, {}, {0.0, bad}, {}}); }, "from 1 to 0");
    CHECK_NOTHROW(HLogGP(Processes(2), {{bad, bad}, {}, {}, {bad, bad}}));  // no message goes there
    for (double LogGP::*parameter : {&LogGP::latency_s, &LogGP::gap_s, &LogGP::gap_per_byte_s}) {
      LogGP link = network;
      link.*parameter = bad;
      refused([&] { HLogGP::from_links(2, [&](int, int) { return link; }); }, "from 0 to 1");
    }
  }
}

}  // namespace steelyard::test_loggp
