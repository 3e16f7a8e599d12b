#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/hockney.hpp"

namespace steelyard::test_piecewise_hockney {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using Messages = std::vector<MessageTime>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Eager messages without a copy, with one, and a rendezvous.
const PiecewiseHockney three_protocols{{{1024.0, {3e-7, 3e9}}, {65536.0, {1.5e-6, 5e9}}, {infinity, {2e-5, 1.2e10}}}};

std::vector<double> powers_of_two(double most_bytes) {
  std::vector<double> sizes;
  for (double bytes = 1.0; bytes <= most_bytes; bytes *= 2.0) sizes.push_back(bytes);
  return sizes;
}

/// Every kilobyte up to 100, as 003 measures.
std::vector<double> kilobytes() {
  std::vector<double> sizes;
  for (int i = 1; i <= 100; ++i) sizes.push_back(1000.0 * i);
  return sizes;
}

Messages exact_messages(const PiecewiseHockney& channel, const std::vector<double>& sizes) {
  Messages messages;
  for (const double bytes : sizes) messages.push_back({bytes, channel.time_s(bytes)});
  return messages;
}

Messages noisy(Messages messages, double deviation, std::mt19937_64& random) {
  if (deviation == 0.0) return messages;
  std::normal_distribution<double> noise(1.0, deviation);
  for (MessageTime& message : messages) message.time_s *= std::max(0.1, noise(random));
  return messages;
}

/// Squares that the fit promises to make least.
double relative_squares(const std::function<double(double)>& time_s, const Messages& messages) {
  double squares = 0.0;
  for (const MessageTime& message : messages) {
    const double miss = (time_s(message.bytes) - message.time_s) / message.time_s;
    squares += miss * miss;
  }
  return squares;
}

double relative_squares(const PiecewiseHockney& channel, const Messages& messages) {
  return relative_squares([&](double bytes) { return channel.time_s(bytes); }, messages);
}

bool times_grow(const Messages& messages) {
  try {
    fit_hockney(messages);
  } catch (const InvalidArgument&) {
    return false;
  }
  return true;
}

/// Of the best line without fall; messages of at least two sizes.
double least_squares_of(const Messages& messages) {
  if (times_grow(messages)) {
    const Hockney line = fit_hockney(messages);
    return relative_squares([&](double bytes) { return line.time_s(bytes); }, messages);
  }
  double weights = 0.0, sum = 0.0;
  for (const MessageTime& message : messages) {
    weights += 1.0 / (message.time_s * message.time_s);
    sum += 1.0 / message.time_s;
  }
  return relative_squares([&](double) { return sum / weights; }, messages);
}

/// By trying all ways to cut messages [from, end) of different sizes into `segments` runs of at least three.
double brute_force(const Messages& messages, std::size_t from, std::size_t segments) {
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(from);
  if (segments == 1) {
    const Messages last(begin, messages.end());
    return last.size() >= 3 && times_grow(last) ? least_squares_of(last) : infinity;
  }
  double least = infinity;
  for (std::size_t to = from + 3; to + 3 * (segments - 1) <= messages.size(); ++to) {
    const Messages first(begin, messages.begin() + static_cast<std::ptrdiff_t>(to));
    least = std::min(least, least_squares_of(first) + brute_force(messages, to, segments - 1));
  }
  return least;
}

/// The criterion of the fit, as documented.
double criterion(double squares, double n, std::size_t segments) {
  const double p = 4.0 * static_cast<double>(segments) - 2.0;
  return p < n ? std::log(squares / (n - p)) + 0.299 * p * std::pow(std::log(n), 2.1) / n : infinity;
}

/// Whether `fit` changes protocol where `channel` does, as well as sizes can tell.
bool same_boundaries(const PiecewiseHockney& fit, const PiecewiseHockney& channel, const std::vector<double>& sizes) {
  if (fit.segments.size() != channel.segments.size()) return false;
  const auto held = [&](const HockneySegment& segment) {
    return std::count_if(sizes.begin(), sizes.end(), [&](double bytes) { return bytes <= segment.up_to_bytes; });
  };
  for (std::size_t i = 0; i < fit.segments.size(); ++i) {
    if (held(fit.segments[i]) != held(channel.segments[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a message takes the time of the first segment that holds its size") {
  for (const double bytes : {0.0, 1.0, 1024.0}) {
    CHECK(three_protocols.time_s(bytes) == three_protocols.segments[0].hockney.time_s(bytes));
  }
  for (const double bytes : {1024.5, 65536.0}) {
    CHECK(three_protocols.time_s(bytes) == three_protocols.segments[1].hockney.time_s(bytes));
  }
  CHECK(three_protocols.time_s(1e9) == three_protocols.segments[2].hockney.time_s(1e9));
}

TEST_CASE("sizes that no segment holds are refused") {
  const PiecewiseHockney channel{{{4096.0, {1e-6, 1e9}}}};
  CHECK_THROWS_MATCHES(channel.time_s(4097.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("4097") && ContainsSubstring("4096")));
  CHECK_THROWS_AS(PiecewiseHockney{}.time_s(0.0), InvalidArgument);
  CHECK_THROWS_AS(three_protocols.time_s(-1.0), InvalidArgument);
  CHECK_THROWS_AS(three_protocols.time_s(not_a_number), InvalidArgument);
}

TEST_CASE("a fit of exact times gives any protocols back") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(1.3, 4.0);
  const std::vector<double> sizes = powers_of_two(1 << 24);
  for (int trial = 0; trial < 100; ++trial) {
    PiecewiseHockney channel;
    Hockney hockney{3e-7 * factor(random), 1e9 * factor(random)};
    const int segments = 1 + trial % 4;
    for (int i = 1; i <= segments; ++i) {
      channel.segments.push_back({i < segments ? std::ldexp(1.0, 6 * i) : infinity, hockney});
      hockney = {hockney.latency_s * factor(random), hockney.bandwidth_bytes_per_s * factor(random)};
    }
    const PiecewiseHockney fit = fit_piecewise_hockney(exact_messages(channel, sizes));
    REQUIRE(same_boundaries(fit, channel, sizes));
    for (int i = 0; i < segments; ++i) {
      const Hockney &found = fit.segments[i].hockney, &truth = channel.segments[i].hockney;
      REQUIRE_THAT(found.latency_s, WithinRel(truth.latency_s, 1e-9));
      REQUIRE_THAT(found.bandwidth_bytes_per_s, WithinRel(truth.bandwidth_bytes_per_s, 1e-6));
    }
  }
}

TEST_CASE("protocols are found in noisy times") {
  const double deviation = GENERATE(0.01, 0.02, 0.03);
  const std::vector<double> sizes = GENERATE(powers_of_two(1 << 22), kilobytes());
  PiecewiseHockney channel = three_protocols;
  if (sizes.front() > 1.0) channel.segments.erase(channel.segments.begin());  // no size within it
  std::mt19937_64 random(2);
  int found = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const PiecewiseHockney fit = fit_piecewise_hockney(noisy(exact_messages(channel, sizes), deviation, random));
    if (!same_boundaries(fit, channel, sizes)) continue;
    ++found;
    for (const double bytes : sizes) REQUIRE_THAT(fit.time_s(bytes), WithinRel(channel.time_s(bytes), 4.0 * deviation));
  }
  CHECK(found >= 90);
}

TEST_CASE("the noise of a channel with one protocol is not taken for more") {
  const double deviation = GENERATE(0.001, 0.01, 0.03, 0.1);
  const std::vector<double> sizes = GENERATE(powers_of_two(1 << 22), powers_of_two(1 << 16), kilobytes());
  std::mt19937_64 random(3);
  const Messages messages = exact_messages({{{infinity, {2e-6, 1e9}}}}, sizes);
  int cut = 0;
  for (int trial = 0; trial < 200; ++trial) {
    if (fit_piecewise_hockney(noisy(messages, deviation, random)).segments.size() > 1) ++cut;
  }
  CHECK(cut <= 10);
}

TEST_CASE("rounding of exact times is not taken for protocols") {
  for (const double latency_s : {1e-9, 1e-6, 1.0}) {
    const Messages messages = exact_messages({{{infinity, {latency_s, 1e9}}}}, powers_of_two(1 << 30));
    CHECK(fit_piecewise_hockney(messages).segments.size() == 1);
  }
}

TEST_CASE("one segment is Hockney's model") {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Messages messages = noisy(exact_messages(three_protocols, powers_of_two(1 << 22)), 0.1, random);
    const PiecewiseHockney fit = fit_piecewise_hockney(messages, 1);
    REQUIRE(fit.segments.size() == 1);
    CHECK(fit.segments[0].up_to_bytes == infinity);
    const Hockney expected = fit_hockney(messages);
    REQUIRE_THAT(fit.segments[0].hockney.latency_s, WithinRel(expected.latency_s, 1e-9));
    REQUIRE_THAT(fit.segments[0].hockney.bandwidth_bytes_per_s, WithinRel(expected.bandwidth_bytes_per_s, 1e-9));
  }
}

TEST_CASE("two sizes are enough") {
  const Hockney channel{3e-6, 2e9};
  const PiecewiseHockney fit =
      fit_piecewise_hockney(Messages{{8.0, channel.time_s(8.0)}, {4096.0, channel.time_s(4096.0)}});
  REQUIRE(fit.segments.size() == 1);
  CHECK_THAT(fit.segments[0].hockney.latency_s, WithinRel(3e-6, 1e-9));
  CHECK_THAT(fit.segments[0].hockney.bandwidth_bytes_per_s, WithinRel(2e9, 1e-9));
}

TEST_CASE("no other cuts and no other number of segments are better") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> factor(0.5, 2.0);
  for (int trial = 0; trial < 200; ++trial) {
    PiecewiseHockney channel = three_protocols;
    for (HockneySegment& segment : channel.segments) segment.hockney.latency_s *= factor(random);
    channel.segments[0].up_to_bytes = 64.0;
    channel.segments[1].up_to_bytes = 4096.0;
    const double deviation = trial % 2 == 0 ? 0.02 : 0.3;
    const Messages messages = noisy(exact_messages(channel, powers_of_two(1 << 14)), deviation, random);
    const std::size_t most = messages.size() / 3;
    const PiecewiseHockney fit = fit_piecewise_hockney(messages, static_cast<int>(most));
    const double squares = relative_squares(fit, messages);
    REQUIRE_THAT(squares, WithinRel(brute_force(messages, 0, fit.segments.size()), 1e-4));
    const auto n = static_cast<double>(messages.size());
    for (std::size_t segments = 1; segments <= most; ++segments) {
      REQUIRE(criterion(squares, n, fit.segments.size()) <=
              criterion(brute_force(messages, 0, segments), n, segments) + 1e-4);
    }
  }
}

TEST_CASE("more segments are only taken where they fit better, and never more than asked for") {
  std::mt19937_64 random(6);
  const Messages messages = noisy(exact_messages(three_protocols, powers_of_two(1 << 22)), 0.02, random);
  double previous = infinity;
  for (int most = 1; most <= 3; ++most) {
    const PiecewiseHockney fit = fit_piecewise_hockney(messages, most);
    CHECK(fit.segments.size() == static_cast<std::size_t>(most));
    CHECK(relative_squares(fit, messages) < previous);
    previous = relative_squares(fit, messages);
  }
  CHECK(fit_piecewise_hockney(messages, std::numeric_limits<int>::max()).segments.size() == 3);
}

TEST_CASE("a clock and sizes in other units scale the segments alike, and the order of messages is nothing") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    Messages messages = noisy(exact_messages(three_protocols, powers_of_two(1 << 22)), 0.03, random);
    const PiecewiseHockney fit = fit_piecewise_hockney(messages);
    for (MessageTime& message : messages) message = {8.0 * message.bytes, 1000.0 * message.time_s};
    std::shuffle(messages.begin(), messages.end(), random);
    const PiecewiseHockney scaled = fit_piecewise_hockney(messages);
    REQUIRE(scaled.segments.size() == fit.segments.size());
    for (std::size_t i = 0; i < fit.segments.size(); ++i) {
      const HockneySegment &a = fit.segments[i], &b = scaled.segments[i];
      REQUIRE_THAT(b.up_to_bytes, WithinRel(8.0 * a.up_to_bytes, 1e-9));
      REQUIRE_THAT(b.hockney.latency_s, WithinRel(1000.0 * a.hockney.latency_s, 1e-9));
      REQUIRE_THAT(b.hockney.bandwidth_bytes_per_s, WithinRel(8e-3 * a.hockney.bandwidth_bytes_per_s, 1e-9));
    }
  }
}

TEST_CASE("a flat beginning becomes a segment whose bytes cost next to nothing, at a finite bandwidth") {
  const double deviation = GENERATE(0.0, 0.01, 0.02);
  std::mt19937_64 random(8);
  Messages messages;
  for (double bytes = 8.0; bytes <= 256.0; bytes *= 2.0) messages.push_back({bytes, 5e-7});
  for (double bytes = 512.0; bytes <= 1 << 22; bytes *= 2.0) messages.push_back({bytes, 2e-6 + bytes / 1e10});
  const PiecewiseHockney fit = fit_piecewise_hockney(noisy(messages, deviation, random));
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.segments[0].up_to_bytes == 256.0);
  CHECK(std::isfinite(fit.segments[0].hockney.bandwidth_bytes_per_s));
  CHECK_THAT(fit.time_s(8.0), WithinRel(5e-7, 1e-5 + 2.0 * deviation));
  CHECK_THAT(fit.time_s(256.0), WithinRel(5e-7, 1e-5 + 2.0 * deviation));
  CHECK_THAT(fit.time_s(1e6), WithinRel(1.02e-4, 1e-5 + 2.0 * deviation));
}

TEST_CASE("times that fall within the first sizes are fitted by their level") {
  Messages messages = {{1.0, 1.1e-6}, {2.0, 1.05e-6}, {4.0, 1e-6}, {8.0, 0.95e-6}};
  for (double bytes = 16.0; bytes <= 1 << 20; bytes *= 2.0) messages.push_back({bytes, 5e-6 + bytes / 1e9});
  const PiecewiseHockney fit = fit_piecewise_hockney(messages);
  REQUIRE(fit.segments.size() == 2);
  CHECK_THAT(fit.time_s(8.0), WithinRel(fit.time_s(1.0), 1.1e-6));
  CHECK(fit.time_s(8.0) > fit.time_s(1.0));
  CHECK_THAT(fit.time_s(1.0), WithinRel(1e-6, 0.05));
}

TEST_CASE("segments whose lines meet between the measured sizes end there") {
  const double bend = GENERATE(2100.0, 3000.0, 4000.0);
  const Hockney lower{1e-6, 1e9}, upper{1e-6 + bend * (1e-9 - 2e-10), 5e9};
  const PiecewiseHockney channel{{{bend, lower}, {infinity, upper}}};
  const PiecewiseHockney fit = fit_piecewise_hockney(exact_messages(channel, powers_of_two(1 << 22)));
  REQUIRE(fit.segments.size() == 2);
  CHECK_THAT(fit.segments[0].up_to_bytes, WithinRel(bend, 1e-6));
  CHECK_THAT(fit.time_s(bend), WithinRel(channel.time_s(bend), 1e-9));
}

TEST_CASE("a jump between two measured sizes is put behind the lower one") {
  const double boundary = GENERATE(4096.0, 5000.0, 8191.0);
  const PiecewiseHockney channel{{{boundary, {1e-6, 2e9}}, {infinity, {5e-6, 8e9}}}};
  const PiecewiseHockney fit = fit_piecewise_hockney(exact_messages(channel, powers_of_two(1 << 22)));
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.segments[0].up_to_bytes == 4096.0);
}

TEST_CASE("whatever was measured, a fit has what a platform file can hold") {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> exponent(-7.0, 1.0);
  std::uniform_int_distribution<int> count(2, 30), repetitions(1, 3), most(1, 6);
  int fitted = 0;
  for (int trial = 0; trial < 500; ++trial) {
    Messages messages;
    const int sizes = count(random);
    for (int i = 0; i < sizes; ++i) {
      for (int j = repetitions(random); j > 0; --j) {
        messages.push_back({std::floor(std::pow(1.8, i)), std::pow(10.0, exponent(random))});
      }
    }
    PiecewiseHockney fit;
    try {
      fit = fit_piecewise_hockney(messages, most(random));
    } catch (const InvalidArgument&) {
      continue;  // times that fall towards the longest messages
    }
    ++fitted;
    double previous = 0.0;
    for (const HockneySegment& segment : fit.segments) {
      REQUIRE(segment.up_to_bytes > previous);
      REQUIRE(segment.hockney.latency_s >= 0.0);
      REQUIRE(std::isfinite(segment.hockney.latency_s));
      REQUIRE(segment.hockney.bandwidth_bytes_per_s > 0.0);
      REQUIRE(std::isfinite(segment.hockney.bandwidth_bytes_per_s));
      if (fit.segments.size() > 1) {
        std::vector<double> held;
        for (const MessageTime& message : messages) {
          if (message.bytes > previous && message.bytes <= segment.up_to_bytes) held.push_back(message.bytes);
        }
        held.erase(std::unique(held.begin(), held.end()), held.end());
        REQUIRE(held.size() >= 3);
      }
      previous = segment.up_to_bytes;
    }
    REQUIRE(previous == infinity);
  }
  CHECK(fitted > 100);
}

TEST_CASE("messages without a bandwidth or with impossible values are refused") {
  CHECK_THROWS_AS(fit_piecewise_hockney({}), InvalidArgument);
  CHECK_THROWS_MATCHES(fit_piecewise_hockney(Messages{{8.0, 1e-6}, {8.0, 2e-6}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("one size")));
  for (const double last_s : {1e-6, 0.5e-6}) {
    CHECK_THROWS_MATCHES(fit_piecewise_hockney(Messages{{1.0, 1e-6}, {10.0, 1e-6}, {100.0, 1e-6}, {1000.0, last_s}}),
                         InvalidArgument, MessageMatches(ContainsSubstring("do not grow")));
  }
  for (const double bad : {0.0, -1e-6, not_a_number, infinity}) {
    CHECK_THROWS_AS(fit_piecewise_hockney(Messages{{1.0, 1e-6}, {2.0, bad}, {4.0, 2e-6}}), InvalidArgument);
  }
  for (const double bad : {-1.0, not_a_number, infinity}) {
    CHECK_THROWS_AS(fit_piecewise_hockney(Messages{{1.0, 1e-6}, {bad, 2e-6}, {4.0, 2e-6}}), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(fit_piecewise_hockney(Messages{{1.0, 1e-6}, {2.0, 2e-6}}, 0), InvalidArgument,
                       MessageMatches(ContainsSubstring("0 segments")));
}

}  // namespace steelyard::test_piecewise_hockney
