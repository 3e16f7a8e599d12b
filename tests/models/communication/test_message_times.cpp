// Hockney and LogGP: what a message takes, and their parameters from measured times.
#include <functional>

#include "models/communication/channel_fit.hpp"
#include "models/communication/cost_models.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_message_times {

using namespace steelyard::models;
using Messages = std::vector<MessageTime>;
using Segments = std::vector<HockneySegment>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Eager messages without a copy, with one, and a rendezvous.
const Segments three_protocols{{1024.0, {3e-7, 3e9}}, {65536.0, {1.5e-6, 5e9}}, {infinity, {2e-5, 1.2e10}}};

double time_s(const Segments& segments, double bytes) {
  Channel channel;
  channel.hockney = segments;
  return channel.time_s(bytes);
}

std::vector<double> powers_of_two(double most_bytes) {
  std::vector<double> sizes;
  for (double bytes = 1.0; bytes <= most_bytes; bytes *= 2.0) sizes.push_back(bytes);
  return sizes;
}

Messages exact_messages(const Segments& channel, const std::vector<double>& sizes) {
  Messages messages;
  for (const double bytes : sizes) messages.push_back({bytes, time_s(channel, bytes)});
  return messages;
}

Messages noisy(Messages messages, double deviation, std::mt19937_64& random) {
  if (deviation == 0.0) return messages;
  std::normal_distribution<double> noise(1.0, deviation);
  for (MessageTime& message : messages) message.time_s *= std::max(0.1, noise(random));
  return messages;
}

/// Squares that the fit promises to make least.
double relative_squares(const Segments& channel, const Messages& messages) {
  double squares = 0.0;
  for (const MessageTime& message : messages) {
    const double miss = (time_s(channel, message.bytes) - message.time_s) / message.time_s;
    squares += miss * miss;
  }
  return squares;
}

/// The best line without fall, which has no end of bandwidth where times do not grow.
Hockney best_line(const Messages& messages) {
  try {
    return fit_hockney(messages);
  } catch (const InvalidArgument&) {
    double weights = 0.0, sum = 0.0;
    for (const MessageTime& message : messages) {
      weights += 1.0 / (message.time_s * message.time_s);
      sum += 1.0 / message.time_s;
    }
    return {sum / weights, infinity};
  }
}

/// By trying all ways to cut messages of different sizes into `segments` runs of at least three.
double brute_force(const Messages& messages, std::size_t segments) {
  if (segments == 1) {
    const Hockney line = best_line(messages);
    return line.bandwidth_bytes_per_s < infinity ? relative_squares({{infinity, line}}, messages) : infinity;
  }
  double least = infinity;
  for (std::size_t to = 3; to + 3 * (segments - 1) <= messages.size(); ++to) {
    const auto cut = messages.begin() + static_cast<std::ptrdiff_t>(to);
    const Messages first(messages.begin(), cut), others(cut, messages.end());
    const double squares = relative_squares({{infinity, best_line(first)}}, first);
    least = std::min(least, squares + brute_force(others, segments - 1));
  }
  return least;
}

/// The criterion of the fit, as documented.
double criterion(double squares, double n, std::size_t segments) {
  const double p = 4.0 * static_cast<double>(segments) - 2.0;
  return p < n ? std::log(squares / (n - p)) + 0.299 * p * std::pow(std::log(n), 2.1) / n : infinity;
}

const LogGP network{1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9};
const LogGP memory{2e-7, 1e-7, 1e-7, 2e-7, 1e-10};

LogGP random_loggp(std::mt19937_64& random) {
  std::uniform_real_distribution<double> factor(0.1, 10.0);
  return {1e-6 * factor(random), 1e-7 * factor(random), 1e-7 * factor(random), 1e-6 * factor(random),
          1e-9 * factor(random)};
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

}  // namespace

TEST_CASE("a message takes latency and bytes over bandwidth of the first segment that holds its size") {
  for (const double bytes : {0.0, 1.0, 1024.0, 1024.5, 65536.0, 65537.0, 1e9}) {
    const Hockney& hockney = three_protocols[bytes <= 1024.0 ? 0 : bytes <= 65536.0 ? 1 : 2].hockney;
    CHECK_THAT(hockney.time_s(bytes), WithinRel(hockney.latency_s + bytes / hockney.bandwidth_bytes_per_s, 1e-15));
    CHECK(time_s(three_protocols, bytes) == hockney.time_s(bytes));
  }
  CHECK(time_s(three_protocols, infinity) == infinity);
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
      return relative_squares({{infinity, {std::max(0.0, latency_s), bandwidth}}}, messages);
    };
    const double least = squares(fit.latency_s, fit.bandwidth_bytes_per_s);
    for (const double a : {-1e-9, 0.0, 1e-9}) {
      for (const double b : {0.999, 1.0, 1.001}) {
        REQUIRE(squares(fit.latency_s + a, fit.bandwidth_bytes_per_s * b) >= least * (1.0 - 1e-12));
      }
    }
    const Segments one = fit_piecewise_hockney(messages, 1);
    REQUIRE((one.size() == 1 && one[0].up_to_bytes == infinity));
    REQUIRE(relative_squares(one, messages) == least);
  }
  CHECK(without_latency > 0);
}

TEST_CASE("no other cuts and no other number of segments are better") {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> factor(0.5, 2.0);
  for (int trial = 0; trial < 200; ++trial) {
    Segments channel = three_protocols;
    for (HockneySegment& segment : channel) segment.hockney.latency_s *= factor(random);
    channel[0].up_to_bytes = 64.0;
    channel[1].up_to_bytes = 4096.0;
    const double deviation = trial % 2 == 0 ? 0.02 : 0.3;
    const Messages messages = noisy(exact_messages(channel, powers_of_two(1 << 14)), deviation, random);
    const std::size_t most = messages.size() / 3;
    Messages in_any_order = messages;
    std::shuffle(in_any_order.begin(), in_any_order.end(), random);
    const Segments fit = fit_piecewise_hockney(in_any_order, static_cast<int>(most));
    const double squares = relative_squares(fit, messages);
    REQUIRE_THAT(squares, WithinRel(brute_force(messages, fit.size()), 1e-4));
    const auto n = static_cast<double>(messages.size());
    for (std::size_t segments = 1; segments <= most; ++segments) {
      REQUIRE(criterion(squares, n, fit.size()) <= criterion(brute_force(messages, segments), n, segments) + 1e-4);
    }
  }
}

TEST_CASE("segments whose lines meet between the measured sizes end there") {
  const double bend = GENERATE(2100.0, 3000.0, 4000.0);
  const Hockney lower{1e-6, 1e9}, upper{1e-6 + bend * (1e-9 - 2e-10), 5e9};
  const Segments channel{{bend, lower}, {infinity, upper}};
  const Segments fit = fit_piecewise_hockney(exact_messages(channel, powers_of_two(1 << 22)));
  REQUIRE(fit.size() == 2);
  CHECK_THAT(fit[0].up_to_bytes, WithinRel(bend, 1e-6));
  CHECK_THAT(time_s(fit, bend), WithinRel(time_s(channel, bend), 1e-9));
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
    Segments fit;
    try {
      fit = fit_piecewise_hockney(messages, 1 + trial % 6);
    } catch (const InvalidArgument&) {
      continue;  // times that fall towards the longest messages
    }
    ++fitted;
    double previous = 0.0;
    for (const auto& [up_to_bytes, hockney] : fit) {
      REQUIRE(up_to_bytes > previous);
      REQUIRE((hockney.latency_s >= 0.0 && hockney.latency_s < infinity));
      REQUIRE((hockney.bandwidth_bytes_per_s > 0.0 && hockney.bandwidth_bytes_per_s < infinity));
      previous = up_to_bytes;
    }
    REQUIRE(previous == infinity);
  }
  CHECK(fitted > 100);
}

TEST_CASE("messages that fit no line are refused, and so are fits of no segment") {
  const Messages two{{1.0, 1e-6}, {4.0, 2e-6}};
  std::vector<Messages> wrong{{},
                              {{8.0, 1e-6}, {8.0, 2e-6}, {8.0, 1.5e-6}},
                              {{0.0, 1e-6}, {0.0, 2e-6}},
                              {{1.0, 2e-6}, {1000.0, 1e-6}},
                              {{1.0, 1e-6}, {10.0, 1e-6}, {100.0, 1e-6}, {1000.0, 1e-6}}};
  for (const double bad : {0.0, -1e-6, infinity, not_a_number}) {
    wrong.push_back({two[0], {2.0, bad}, two[1]});
    if (bad != 0.0) wrong.push_back({two[0], {bad, 1.5e-6}, two[1]});
  }
  for (const Messages& messages : wrong) {
    INFO(messages.size() << " messages");
    CHECK_THROWS_AS(fit_hockney(messages), InvalidArgument);
    CHECK_THROWS_AS(fit_piecewise_hockney(messages), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(fit_hockney(Messages{two[0], {-12.5, 1.5}}), InvalidArgument,
                       MessageMatches(ContainsSubstring("-12.5 bytes took 1.5 s")));
  CHECK_THROWS_AS(fit_piecewise_hockney(two, 0), InvalidArgument);
}

TEST_CASE("sizes that are none or that no segment holds, and channels without a bandwidth, have no time") {
  for (const double bad : {-1.0, -infinity, not_a_number}) {
    CHECK_THROWS_AS((Hockney{1e-6, 1e9}.time_s(bad)), InvalidArgument);
    CHECK_THROWS_AS(time_s(three_protocols, bad), InvalidArgument);
    CHECK_THROWS_AS(network.time_s(bad), InvalidArgument);
  }
  CHECK_THROWS_AS((Hockney{0.0, -2.5}.time_s(1.0)), InvalidArgument);
  CHECK_THROWS_AS(Hockney{}.time_s(1.0), InvalidArgument);
  CHECK_THROWS_AS((time_s({{4096.0, {1e-6, 1e9}}}, 4097.0)), InvalidArgument);
  CHECK_THROWS_AS(time_s({}, 0.0), InvalidArgument);
}

TEST_CASE("by LogGP a message takes both overheads, latency and a gap for every byte behind the first") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const LogGP model = random_loggp(random);
    const double fixed_s = model.send_overhead_s + model.latency_s + model.receive_overhead_s;
    for (const double bytes : {1.0, 100.0, 10000.0}) {
      REQUIRE_THAT(model.time_s(bytes), WithinRel(fixed_s + (bytes - 1.0) * model.gap_per_byte_s, 1e-12));
    }
    REQUIRE(model.time_s(0.0) == model.time_s(1.0));
  }
  CHECK(network.time_s(infinity) == infinity);
}

TEST_CASE("a fit of exact messages and trains gives LogGP's parameters back") {
  std::mt19937_64 random(3);
  const double smallest = GENERATE(1.0, 8.0, 1024.0);
  for (int trial = 0; trial < 50; ++trial) {
    LogGP model = random_loggp(random);
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
  for (const char* text : {"T0(1) + T2(1)", "T3(1)"}) CHECK_THROWS_AS(cost_s(text, 1.0), InvalidArgument);
}

TEST_CASE("times that LogGP has no parameters for are refused") {
  const LogGPTimes good = exact_times(network, 1.0, 1 << 10);
  const auto refused_if = [&](const std::function<void(LogGPTimes&)>& change, const std::string& what) {
    LogGPTimes times = good;
    change(times);
    CHECK_THROWS_MATCHES(fit_loggp(times), InvalidArgument, MessageMatches(ContainsSubstring(what)));
  };
  refused_if([](LogGPTimes& times) { times.one_way.clear(); }, "one-way");
  refused_if([](LogGPTimes& times) { times.trains.resize(1); }, "two sizes");
  for (const double bad : {-1e-6, infinity, not_a_number}) {
    refused_if([=](LogGPTimes& times) { times.send_overhead_s = bad; }, "send overhead");
    refused_if([=](LogGPTimes& times) { times.receive_overhead_s = bad; }, "receive overhead");
    refused_if([=](LogGPTimes& times) { times.one_way[3].time_s = bad; }, "bytes");
    refused_if([=](LogGPTimes& times) { times.trains[3].time_s = bad; }, "message");
  }
}

}  // namespace steelyard::test_message_times
