#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "comm/measurement/channel_measurement.hpp"
#include "core/base/errors.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_channel_measurement {

using namespace steelyard::tests;

namespace {

/// Few messages: on a busy machine each may take as long as other programs keep the core.
constexpr CalibrationDepth tiny{1024, 8192, 1e-5};

/// A channel between the first ranks in the order given, or in their own.
ChannelPlan between(std::vector<int> ranks, std::vector<int> concurrencies) {
  ChannelPlan plan;
  plan.channel.name = "some channel";
  plan.ranks = std::move(ranks);
  plan.concurrencies = std::move(concurrencies);
  return plan;
}

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<MeasuredChannel> measured(const std::vector<ChannelPlan>& plans, const CalibrationDepth& depth,
                                      int rounds) {
  ChannelMeasurement measurement(session().comm(), plans, depth);
  for (int round = 0; round < rounds; ++round) measurement.round();
  return measurement.result();
}

std::vector<int> sizes_of(const std::vector<models::MessageTime>& times) {
  std::vector<int> sizes;
  for (const models::MessageTime& time : times) sizes.push_back(static_cast<int>(time.bytes));
  return sizes;
}

/// All numbers of a measured channel.
std::vector<double> numbers(const MeasuredChannel& channel) {
  const models::ChannelTimes& times = channel.times;
  std::vector<double> values{times.eager_limit_bytes,
                             times.empty_s,
                             times.empty_synchronous_s,
                             times.loggp.send_overhead_s,
                             times.loggp.receive_overhead_s,
                             channel.quality.typical_error,
                             channel.quality.largest_error,
                             static_cast<double>(channel.quality.outliers),
                             static_cast<double>(channel.quality.repetitions)};
  const auto append = [&](double key, const std::vector<models::MessageTime>& messages) {
    values.push_back(key);
    for (const models::MessageTime& message : messages) values.insert(values.end(), {message.bytes, message.time_s});
  };
  append(1, times.one_way);
  append(-1, times.loggp.trains);
  for (const auto& [concurrency, ring] : times.rings) append(concurrency, ring);
  return values;
}

/// Every size and concurrency is there with a time, and all ranks know the same.
void check_measured(const MeasuredChannel& channel, const ChannelPlan& plan, const CalibrationDepth& depth) {
  const models::ChannelTimes& times = channel.times;
  const std::vector<int> sizes = sizes_of(times.one_way);
  CAPTURE(sizes, plan.ranks, plan.concurrencies);
  CHECK(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
  const std::vector<int> at_least = calibration_sizes(depth);
  CHECK(std::includes(sizes.begin(), sizes.end(), at_least.begin(), at_least.end()));
  REQUIRE_FALSE(sizes.empty());
  CHECK(sizes.front() == depth.smallest_bytes);
  CHECK(sizes.back() == depth.largest_bytes);
  std::vector<int> concurrencies;
  const auto is_positive = [](const models::MessageTime& message) { return message.time_s > 0.0; };
  CHECK(std::all_of(times.one_way.begin(), times.one_way.end(), is_positive));
  for (const auto& [concurrency, ring] : times.rings) {
    concurrencies.push_back(concurrency);
    CHECK(sizes_of(ring) == sizes);
    CHECK(std::all_of(ring.begin(), ring.end(), is_positive));
  }
  CHECK(concurrencies == plan.concurrencies);
  CHECK(sizes_of(times.loggp.trains) == sizes);
  for (const double time_s :
       {times.empty_s, times.empty_synchronous_s, times.loggp.send_overhead_s, times.loggp.receive_overhead_s}) {
    CHECK(time_s > 0.0);
  }
  CHECK(times.eager_limit_bytes >= 0.0);
  CHECK(times.eager_limit_bytes <= depth.largest_bytes);
  CHECK(channel.quality.outliers >= 0);
  CHECK(channel.quality.outliers <= channel.quality.repetitions);
  CHECK(channel.quality.typical_error <= channel.quality.largest_error);
  CHECK(same_on_all_ranks(numbers(channel)));
}

}  // namespace

TEST_CASE("sizes are both ends, the powers of two between them, and what else lies between") {
  using Sizes = std::vector<int>;
  CHECK(calibration_sizes({8, 64, 0.0}) == Sizes{8, 16, 32, 64});
  CHECK(calibration_sizes({3, 20, 0.0}) == Sizes{3, 4, 8, 16, 20});
  CHECK(calibration_sizes({1, 2, 0.0}) == Sizes{1, 2});
  CHECK(calibration_sizes({8, 32, 0.0}, {4, 8, 9, 16, 31, 32, 33, 9}) == Sizes{8, 9, 16, 31, 32});
  CHECK(calibration_sizes({1, 1 << 30, 0.0}).size() == 31);
  for (const CalibrationDepth& wrong : {CalibrationDepth{8, 8, 0.0}, CalibrationDepth{16, 8, 0.0},
                                        CalibrationDepth{0, 8, 0.0}, CalibrationDepth{8, (1 << 30) + 1, 0.0}}) {
    CHECK_THROWS_AS(calibration_sizes(wrong), InvalidArgument);
  }
}

TEST_CASE("a measurement has all sizes and concurrencies of its plan, the same on all ranks") {
  const int ranks = session().size();
  if (ranks < 2) return;
  std::vector<int> concurrencies{2};
  if (ranks > 2) concurrencies.push_back(ranks);
  const ChannelPlan plan = between(first_ranks(ranks), concurrencies);
  const std::vector<MeasuredChannel> channels = measured({plan}, tiny, 1);
  CHECK(channels.size() == 1);
  for (const MeasuredChannel& channel : channels) check_measured(channel, plan, tiny);
}

TEST_CASE("ranks that take no part sleep, and know in the end what the others measured") {
  const int ranks = session().size();
  if (ranks < 2) return;
  // Rank 0 only in the first.
  std::vector<ChannelPlan> plans{between({1, 0}, {2})};
  if (ranks > 2) plans.push_back(between({2, 1}, {2}));
  if (ranks > 3) plans.push_back(between({3, 1, 2}, {2, 3}));
  const std::vector<MeasuredChannel> channels = measured(plans, tiny, 1);
  CHECK(channels.size() == plans.size());
  for (std::size_t i = 0; i < channels.size(); ++i) check_measured(channels[i], plans[i], tiny);
}

TEST_CASE("single transmissions are measured also where no ring of two is asked for") {
  const int ranks = session().size();
  if (ranks < 2) return;
  const ChannelPlan alone = between({0, 1}, {});
  check_measured(measured({alone}, tiny, 1).at(0), alone, tiny);
  if (ranks < 3) return;
  const ChannelPlan three = between({0, 2, 1}, {3});
  check_measured(measured({three}, tiny, 1).at(0), three, tiny);
}

TEST_CASE("repetitions of all rounds are behind a measurement; nothing to measure is no channel") {
  CHECK(measured({}, tiny, 1).empty());
  if (session().size() < 2) return;
  ChannelMeasurement measurement(session().comm(), {between({0, 1}, {2})}, {64, 128, 1e-5});
  int repetitions = 0;
  for (int round = 0; round < 2; ++round) {
    measurement.round();
    const MeasuredChannel channel = measurement.result().at(0);
    CHECK(channel.quality.repetitions > repetitions);
    repetitions = channel.quality.repetitions;
  }
}

}  // namespace steelyard::test_channel_measurement
