#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/loggp.hpp"

namespace steelyard::test_loggp {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const LogGP network{1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9};

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
    const double last_byte_s = first_byte_s + (bytes - 1.0) * model.gap_per_byte_s;
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

}  // namespace

TEST_CASE("a message takes both overheads, the latency, and the gap per byte behind its first") {
  CHECK_THAT(network.time_s(1.0), WithinRel(2.2e-6, 1e-12));
  CHECK_THAT(network.time_s(1001.0), WithinRel(3.2e-6, 1e-12));
  CHECK(network.time_s(infinity) == infinity);
}

TEST_CASE("a message without bytes takes as long as one of a byte") {
  CHECK(network.time_s(0.0) == network.time_s(1.0));
  CHECK(network.train_s(7, 0.0) == network.train_s(7, 1.0));
}

TEST_CASE("times of messages and trains never fall with the size or the number") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const LogGP model = random_model(random);
    for (double bytes = 1.0; bytes < 1e8; bytes *= 3.0) {
      REQUIRE(model.time_s(bytes) < model.time_s(3.0 * bytes));
      REQUIRE(model.train_s(5, bytes) < model.train_s(5, 3.0 * bytes));
      REQUIRE(model.train_s(5, bytes) < model.train_s(6, bytes));
    }
  }
}

TEST_CASE("a train of one message is that message, one of none nothing") {
  for (double bytes = 0.0; bytes < 1e8; bytes = 3.0 * bytes + 1.0) {
    CHECK(network.train_s(1, bytes) == network.time_s(bytes));
    CHECK(network.train_s(0, bytes) == 0.0);
  }
}

TEST_CASE("a train is as fast as its slowest stage, message by message") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const LogGP model = random_model(random);
    for (const double bytes : {1.0, 100.0, 10000.0}) {
      for (const int messages : {1, 2, 3, 10, 100}) {
        REQUIRE_THAT(model.train_s(messages, bytes), WithinRel(simulated_train_s(model, messages, bytes), 1e-9));
      }
    }
  }
}

TEST_CASE("the bandwidth of long messages is one over the gap per byte, alone and in trains") {
  CHECK_THAT(1e12 / network.time_s(1e12), WithinRel(1.0 / network.gap_per_byte_s, 1e-6));
  CHECK_THAT(100e10 / network.train_s(100, 1e10), WithinRel(1.0 / network.gap_per_byte_s, 1e-6));
}

TEST_CASE("a fit of exact messages and trains gives the parameters back") {
  std::mt19937_64 random(3);
  const double smallest = GENERATE(1.0, 8.0, 1024.0);
  for (int trial = 0; trial < 50; ++trial) {
    LogGP model = random_model(random);
    model.gap_s = std::max({model.gap_s, model.send_overhead_s, model.receive_overhead_s});  // else hidden in trains
    const LogGP fit = fit_loggp(exact_times(model, smallest, 1 << 22));
    REQUIRE(fit.send_overhead_s == model.send_overhead_s);
    REQUIRE(fit.receive_overhead_s == model.receive_overhead_s);
    REQUIRE_THAT(fit.latency_s, WithinRel(model.latency_s, 1e-6));
    REQUIRE_THAT(fit.gap_s, WithinRel(model.gap_s, 1e-6));
    REQUIRE_THAT(fit.gap_per_byte_s, WithinRel(model.gap_per_byte_s, 1e-6));
  }
}

TEST_CASE("a fit takes what was measured for the shortest message and its train") {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  for (int trial = 0; trial < 100; ++trial) {
    LogGPTimes times = exact_times(network, 1.0, 1 << 20);
    for (MessageTime& message : times.one_way) message.time_s *= noise(random);
    for (MessageTime& message : times.trains) message.time_s *= noise(random);
    const LogGP fit = fit_loggp(times);
    REQUIRE_THAT(fit.time_s(1.0), WithinRel(times.one_way.front().time_s, 1e-12));
    REQUIRE_THAT(fit.train_s(2, 1.0) - fit.time_s(1.0), WithinRel(times.trains.front().time_s, 1e-9));
    REQUIRE_THAT(fit.gap_per_byte_s, WithinRel(network.gap_per_byte_s, 0.15));
  }
}

TEST_CASE("the median of repeated measurements of the shortest size counts, wherever it stands") {
  LogGPTimes times = exact_times(network, 1.0, 1 << 20);
  std::reverse(times.one_way.begin(), times.one_way.end());
  times.one_way.insert(times.one_way.begin(), {1.0, 1.0});  // a second for a byte
  times.one_way.push_back({1.0, 0.5e-6});
  CHECK_THAT(fit_loggp(times).latency_s, WithinRel(network.latency_s, 1e-9));
}

TEST_CASE("a clock and sizes in other units scale the fit alike, for messages far longer than a byte") {
  LogGPTimes times = exact_times(network, 1.0, 1 << 20);
  const LogGP fit = fit_loggp(times);
  times.send_overhead_s *= 1000.0;
  times.receive_overhead_s *= 1000.0;
  for (auto* messages : {&times.one_way, &times.trains}) {
    for (MessageTime& message : *messages) message.time_s *= 1000.0;
  }
  const LogGP scaled = fit_loggp(times);
  CHECK_THAT(scaled.latency_s, WithinRel(1000.0 * fit.latency_s, 1e-9));
  CHECK_THAT(scaled.gap_s, WithinRel(1000.0 * fit.gap_s, 1e-9));
  CHECK_THAT(scaled.gap_per_byte_s, WithinRel(1000.0 * fit.gap_per_byte_s, 1e-9));
}

TEST_CASE("overheads longer than the message leave no latency rather than a negative one") {
  LogGPTimes times = exact_times(network, 1.0, 1 << 20);
  times.send_overhead_s = 1e-3;
  CHECK(fit_loggp(times).latency_s == 0.0);
}

TEST_CASE("impossible sizes and numbers of messages are refused") {
  for (const double bad : {-1.0, -infinity, not_a_number}) {
    CHECK_THROWS_AS(network.time_s(bad), InvalidArgument);
    CHECK_THROWS_AS(network.train_s(2, bad), InvalidArgument);
    CHECK_THROWS_AS(network.train_s(0, bad), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(network.train_s(-3, 8.0), InvalidArgument, MessageMatches(ContainsSubstring("-3 messages")));
}

TEST_CASE("measurements that say nothing or the impossible are refused") {
  const LogGPTimes good = exact_times(network, 1.0, 1 << 10);
  LogGPTimes times = good;
  times.one_way.clear();
  CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring("one-way")));
  times = good;
  times.trains.resize(1);
  CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring("two sizes")));
  times = good;
  for (MessageTime& message : times.trains) message.time_s = 1.0 / (1.0 + message.bytes);
  CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring("do not grow")));
  for (const double bad : {-1e-6, infinity, not_a_number}) {
    times = good;
    times.send_overhead_s = bad;
    CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring("send overhead")));
    times = good;
    times.receive_overhead_s = bad;
    CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring("receive overhead")));
    times = good;
    times.one_way[3].time_s = bad;
    CHECK_THROWS_AS(fit_loggp(times), InvalidArgument);
    times = good;
    times.trains[3].time_s = bad;
    CHECK_THROWS_AS(fit_loggp(times), InvalidArgument);
    times = good;
    times.trains[3].bytes = bad;
    CHECK_THROWS_AS(fit_loggp(times), InvalidArgument);
  }
}

}  // namespace steelyard::test_loggp
