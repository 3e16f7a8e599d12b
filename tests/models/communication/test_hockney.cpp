#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/hockney.hpp"

namespace steelyard::test_hockney {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using Messages = std::vector<MessageTime>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Sizes 0, 1, 2, 4, … and their times on a channel.
Messages exact_messages(const Hockney& channel, double most_bytes) {
  Messages messages{{0.0, channel.time_s(0.0)}};
  for (double bytes = 1.0; bytes <= most_bytes; bytes *= 2.0) messages.push_back({bytes, channel.time_s(bytes)});
  return messages;
}

/// Weighted squares that the fit promises to make least.
double weighted_squares(const Hockney& channel, const Messages& messages) {
  double squares = 0.0;
  for (const MessageTime& message : messages) {
    const double miss = (channel.time_s(message.bytes) - message.time_s) / message.time_s;
    squares += miss * miss;
  }
  return squares;
}

}  // namespace

TEST_CASE("a message takes the latency and its bytes over the bandwidth") {
  const Hockney channel{2e-6, 1e9};
  CHECK(channel.time_s(0.0) == 2e-6);
  CHECK_THAT(channel.time_s(1e6), WithinRel(1.002e-3, 1e-14));
  CHECK_THAT(channel.time_s(3e6) - channel.time_s(2e6), WithinRel(1e-3, 1e-9));
  CHECK(channel.time_s(infinity) == infinity);
}

TEST_CASE("one message is never slower than its two halves") {
  const Hockney channel{1e-6, 5e8};
  for (double bytes = 1.0; bytes < 1e9; bytes *= 3.0) {
    CHECK(channel.time_s(bytes) < 2.0 * channel.time_s(0.5 * bytes));
  }
}

TEST_CASE("a fit of exact times gives the parameters back") {
  const double latency_s = GENERATE(1e-7, 2.5e-6, 1e-4);
  const double bandwidth = GENERATE(1e8, 1.25e9, 5e10);
  const Hockney fit = fit_hockney(exact_messages({latency_s, bandwidth}, 1 << 26));
  CHECK_THAT(fit.latency_s, WithinRel(latency_s, 1e-9));
  CHECK_THAT(fit.bandwidth_bytes_per_s, WithinRel(bandwidth, 1e-9));
}

TEST_CASE("two sizes are enough and repeated measurements change nothing") {
  const Hockney channel{3e-6, 2e9};
  Messages messages = {{8.0, channel.time_s(8.0)}, {4096.0, channel.time_s(4096.0)}};
  const Hockney once = fit_hockney(messages);
  CHECK_THAT(once.latency_s, WithinRel(3e-6, 1e-9));
  CHECK_THAT(once.bandwidth_bytes_per_s, WithinRel(2e9, 1e-9));
  for (int i = 0; i < 5; ++i) messages.insert(messages.end(), {messages[0], messages[1]});
  const Hockney often = fit_hockney(messages);
  CHECK_THAT(often.latency_s, WithinRel(once.latency_s, 1e-9));
  CHECK_THAT(often.bandwidth_bytes_per_s, WithinRel(once.bandwidth_bytes_per_s, 1e-9));
}

TEST_CASE("a fit of noisy times is right on average") {
  const Hockney channel{2e-6, 1e9};
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1.0, 0.02);
  double latency_s = 0.0, seconds_per_byte = 0.0;
  constexpr int experiments = 1000;
  for (int i = 0; i < experiments; ++i) {
    Messages messages = exact_messages(channel, 1 << 22);
    for (MessageTime& message : messages) message.time_s *= noise(random);
    const Hockney fit = fit_hockney(messages);
    latency_s += fit.latency_s / experiments;
    seconds_per_byte += 1.0 / fit.bandwidth_bytes_per_s / experiments;
  }
  CHECK_THAT(latency_s, WithinRel(channel.latency_s, 0.005));
  CHECK_THAT(1.0 / seconds_per_byte, WithinRel(channel.bandwidth_bytes_per_s, 0.005));
}

TEST_CASE("no nearby parameters fit noisy times better") {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(1.0, 0.1);
  for (int trial = 0; trial < 100; ++trial) {
    Messages messages = exact_messages({5e-6, 1e9}, 1 << 20);
    for (MessageTime& message : messages) message.time_s *= std::max(0.2, noise(random));
    const Hockney fit = fit_hockney(messages);
    const double least = weighted_squares(fit, messages);
    for (const double a : {0.999, 1.0, 1.001}) {
      for (const double b : {0.999, 1.0, 1.001}) {
        const Hockney near{fit.latency_s * a, fit.bandwidth_bytes_per_s * b};
        REQUIRE(weighted_squares(near, messages) >= least * (1.0 - 1e-12));
      }
    }
  }
}

TEST_CASE("a clock in other units and sizes in other units scale the fit alike") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  for (int trial = 0; trial < 100; ++trial) {
    Messages messages = exact_messages({5e-6, 1e9}, 1 << 20);
    for (MessageTime& message : messages) message.time_s *= noise(random);
    const Hockney fit = fit_hockney(messages);
    for (MessageTime& message : messages) message = {8.0 * message.bytes, 1000.0 * message.time_s};
    const Hockney scaled = fit_hockney(messages);
    REQUIRE_THAT(scaled.latency_s, WithinRel(1000.0 * fit.latency_s, 1e-9));
    REQUIRE_THAT(scaled.bandwidth_bytes_per_s, WithinRel(8e-3 * fit.bandwidth_bytes_per_s, 1e-9));
  }
}

TEST_CASE("short messages count as much as long ones") {
  Messages messages = exact_messages({2e-6, 1e9}, 1 << 26);
  for (MessageTime& message : messages) message.time_s *= message.bytes > 1e6 ? 1.05 : 1.0;  // ms against us
  CHECK_THAT(fit_hockney(messages).latency_s, WithinRel(2e-6, 0.02));
}

TEST_CASE("a latency that would be negative becomes zero and the bandwidth is fitted without it") {
  const Messages messages = {{100.0, 0.5}, {200.0, 2.0}, {400.0, 5.0}};
  const Hockney fit = fit_hockney(messages);
  CHECK(fit.latency_s == 0.0);
  const double least = weighted_squares(fit, messages);
  for (const double factor : {0.99, 1.01}) {
    CHECK(weighted_squares({0.0, fit.bandwidth_bytes_per_s * factor}, messages) > least);
  }
}

TEST_CASE("messages of one size or none are refused") {
  CHECK_THROWS_AS(fit_hockney({}), InvalidArgument);
  CHECK_THROWS_AS(fit_hockney(Messages{{8.0, 1e-6}}), InvalidArgument);
  CHECK_THROWS_AS(fit_hockney(Messages{{0.0, 1e-6}, {0.0, 2e-6}}), InvalidArgument);
  CHECK_THROWS_MATCHES(fit_hockney(Messages{{8.0, 1e-6}, {8.0, 2e-6}, {8.0, 1.5e-6}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("one size")));
}

TEST_CASE("times that do not grow with size are refused") {
  CHECK_THROWS_MATCHES(fit_hockney(Messages{{1.0, 2e-6}, {1000.0, 1e-6}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("do not grow")));
  CHECK_THROWS_AS(fit_hockney(Messages{{1.0, 1e-6}, {1000.0, 1e-6}}), InvalidArgument);
}

TEST_CASE("messages with impossible sizes or times are refused with their values") {
  for (const double bad : {0.0, -1e-6, not_a_number, infinity}) {
    CHECK_THROWS_AS(fit_hockney(Messages{{1.0, 1e-6}, {2.0, bad}, {4.0, 2e-6}}), InvalidArgument);
  }
  for (const double bad : {-1.0, not_a_number, infinity}) {
    CHECK_THROWS_AS(fit_hockney(Messages{{1.0, 1e-6}, {bad, 2e-6}, {4.0, 2e-6}}), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(fit_hockney(Messages{{-12.5, 1.5}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("-12.5 bytes") && ContainsSubstring("1.5 s")));
}

TEST_CASE("a negative message or a channel without bandwidth has no time") {
  const Hockney channel{1e-6, 1e9};
  for (const double bad : {-1.0, -infinity, not_a_number}) CHECK_THROWS_AS(channel.time_s(bad), InvalidArgument);
  CHECK_THROWS_MATCHES(channel.time_s(-12.5), InvalidArgument, MessageMatches(ContainsSubstring("-12.5")));
  CHECK_THROWS_AS(Hockney{}.time_s(1.0), InvalidArgument);
  CHECK_THROWS_MATCHES((Hockney{0.0, -2.5}.time_s(1.0)), InvalidArgument, MessageMatches(ContainsSubstring("-2.5")));
}

}  // namespace steelyard::test_hockney
