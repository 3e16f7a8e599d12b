#include <functional>
#include <set>

#include "models/communication/hockney.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_hockney {

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

}  // namespace

TEST_CASE("a message takes latency and bytes over bandwidth of the first segment that holds its size") {
  for (const double bytes : {0.0, 1.0, 1024.0, 1024.5, 65536.0, 65537.0, 1e9}) {
    const Hockney& hockney = three_protocols.segments[bytes <= 1024.0 ? 0 : bytes <= 65536.0 ? 1 : 2].hockney;
    CHECK_THAT(hockney.time_s(bytes), WithinRel(hockney.latency_s + bytes / hockney.bandwidth_bytes_per_s, 1e-15));
    CHECK(three_protocols.time_s(bytes) == hockney.time_s(bytes));
  }
  CHECK(three_protocols.time_s(infinity) == infinity);
}

TEST_CASE("a line has the least relative squares of all nearby ones, and a latency that is not negative") {
  std::mt19937_64 random(2);
  int without_latency = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Hockney channel{trial % 2 == 0 ? 5e-6 : 0.0, 1e9};
    Messages messages{{trial % 4 < 2 ? 0.0 : 100.0, channel.time_s(100.0)}};
    for (double bytes = 1000.0; bytes <= 1 << 20; bytes *= 2.0) messages.push_back({bytes, channel.time_s(bytes)});
    messages = noisy(messages, 0.1, random);
    for (const std::size_t i : {3, 4}) messages.push_back(messages[i]);  // measured twice
    const Hockney fit = fit_hockney(messages);
    REQUIRE(fit.latency_s >= 0.0);
    without_latency += fit.latency_s == 0.0 ? 1 : 0;
    const auto squares = [&](double latency_s, double bandwidth) {
      const Hockney near{std::max(0.0, latency_s), bandwidth};
      return relative_squares([&](double bytes) { return near.time_s(bytes); }, messages);
    };
    const double least = squares(fit.latency_s, fit.bandwidth_bytes_per_s);
    for (const double a : {-1e-9, 0.0, 1e-9}) {
      for (const double b : {0.999, 1.0, 1.001}) {
        REQUIRE(squares(fit.latency_s + a, fit.bandwidth_bytes_per_s * b) >= least * (1.0 - 1e-12));
      }
    }
    const PiecewiseHockney one = fit_piecewise_hockney(messages, 1);
    REQUIRE(one.segments.size() == 1);
    REQUIRE(one.segments[0].up_to_bytes == infinity);
    REQUIRE(one.time_s(0.0) == fit.latency_s);
    REQUIRE(one.segments[0].hockney.bandwidth_bytes_per_s == fit.bandwidth_bytes_per_s);
  }
  CHECK(without_latency > 0);
}

TEST_CASE("the noise of a channel with one protocol is not taken for more") {
  const double deviation = GENERATE(0.0, 0.001, 0.01, 0.03, 0.1);
  const std::vector<double> sizes = GENERATE(powers_of_two(1 << 22), powers_of_two(1 << 16), kilobytes());
  std::mt19937_64 random(3);
  const Messages messages = exact_messages({{{infinity, {2e-6, 1e9}}}}, sizes);
  int cut = 0;
  for (int trial = 0; trial < 200; ++trial) {
    if (fit_piecewise_hockney(noisy(messages, deviation, random)).segments.size() > 1) ++cut;
  }
  CHECK(cut <= 10);
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
    Messages in_any_order = messages;
    std::shuffle(in_any_order.begin(), in_any_order.end(), random);
    const PiecewiseHockney fit = fit_piecewise_hockney(in_any_order, static_cast<int>(most));
    const double squares = relative_squares(fit, messages);
    REQUIRE_THAT(squares, WithinRel(brute_force(messages, 0, fit.segments.size()), 1e-4));
    const auto n = static_cast<double>(messages.size());
    for (std::size_t segments = 1; segments <= most; ++segments) {
      REQUIRE(criterion(squares, n, fit.segments.size()) <=
              criterion(brute_force(messages, 0, segments), n, segments) + 1e-4);
    }
  }
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

TEST_CASE("whatever was measured, a fit has what a platform file can hold") {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> exponent(-7.0, 1.0);
  int fitted = 0;
  for (int trial = 0; trial < 500; ++trial) {
    Messages messages;
    for (int i = 0; i < 2 + trial % 29; ++i) {
      for (int j = trial % 3; j >= 0; --j) {
        messages.push_back({std::floor(std::pow(1.8, i)), std::pow(10.0, exponent(random))});
      }
    }
    PiecewiseHockney fit;
    try {
      fit = fit_piecewise_hockney(messages, 1 + trial % 6);
    } catch (const InvalidArgument&) {
      continue;  // times that fall towards the longest messages
    }
    ++fitted;
    double previous = 0.0;
    for (const auto& [up_to_bytes, hockney] : fit.segments) {
      REQUIRE(up_to_bytes > previous);
      REQUIRE((hockney.latency_s >= 0.0 && std::isfinite(hockney.latency_s)));
      REQUIRE((hockney.bandwidth_bytes_per_s > 0.0 && std::isfinite(hockney.bandwidth_bytes_per_s)));
      std::set<double> sizes;
      for (const auto& message : messages) {
        if (message.bytes > previous && message.bytes <= up_to_bytes) sizes.insert(message.bytes);
      }
      REQUIRE((fit.segments.size() == 1 || sizes.size() >= 3));
      previous = up_to_bytes;
    }
    REQUIRE(previous == infinity);
  }
  CHECK(fitted > 100);
}

TEST_CASE("messages that fit no channel are refused with their values") {
  struct Bad {
    Messages messages;
    const char* says;
  };
  std::vector<Bad> all{{{}, "one size"},
                       {{{8.0, 1e-6}, {8.0, 2e-6}, {8.0, 1.5e-6}}, "one size"},
                       {{{0.0, 1e-6}, {0.0, 2e-6}}, "one size"},
                       {{{1.0, 2e-6}, {1000.0, 1e-6}}, "do not grow"},
                       {{{1.0, 1e-6}, {10.0, 1e-6}, {100.0, 1e-6}, {1000.0, 1e-6}}, "do not grow"},
                       {{{1.0, 1e-6}, {-12.5, 1.5}}, "-12.5 bytes took 1.5 s"}};
  for (const double bad : {0.0, -1e-6, not_a_number}) all.push_back({{{1.0, 1e-6}, {2.0, bad}, {4.0, 2e-6}}, "took"});
  for (const MessageTime& bad : {MessageTime{not_a_number, 2e-6}, {2.0, infinity}, {infinity, 2e-6}}) {
    all.push_back({{{1.0, 1e-6}, bad, {4.0, 2e-6}}, "took"});
  }
  for (const Bad& bad : all) {
    CHECK_THROWS_MATCHES(fit_hockney(bad.messages), InvalidArgument, MessageMatches(ContainsSubstring(bad.says)));
    CHECK_THROWS_MATCHES(fit_piecewise_hockney(bad.messages), InvalidArgument,
                         MessageMatches(ContainsSubstring(bad.says)));
  }
  CHECK_THROWS_MATCHES(fit_piecewise_hockney(Messages{{1.0, 1e-6}, {2.0, 2e-6}}, 0), InvalidArgument,
                       MessageMatches(ContainsSubstring("0 segments")));
}

TEST_CASE("sizes that are none or that no segment holds, and channels without a bandwidth, have no time") {
  for (const double bad : {-1.0, -infinity, not_a_number}) {
    CHECK_THROWS_AS((Hockney{1e-6, 1e9}.time_s(bad)), InvalidArgument);
    CHECK_THROWS_AS(three_protocols.time_s(bad), InvalidArgument);
  }
  CHECK_THROWS_MATCHES((Hockney{0.0, -2.5}.time_s(1.0)), InvalidArgument, MessageMatches(ContainsSubstring("-2.5")));
  CHECK_THROWS_AS(Hockney{}.time_s(1.0), InvalidArgument);
  CHECK_THROWS_MATCHES((PiecewiseHockney{{{4096.0, {1e-6, 1e9}}}}.time_s(4097.0)), InvalidArgument,
                       MessageMatches(ContainsSubstring("4097") && ContainsSubstring("4096")));
  CHECK_THROWS_AS(PiecewiseHockney{}.time_s(0.0), InvalidArgument);
}

}  // namespace steelyard::test_hockney
