#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <map>
#include <string>
#include <vector>

#include "comm/measurement/calibration.hpp"
#include "core/base/errors.hpp"
#include "models/communication/platform_file.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_calibration {

using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

/// Times of a channel without surprises: `latency_s` and a bandwidth that concurrent transmissions share.
ChannelTimes linear_times(double latency_s, double bandwidth_bytes_per_s, const std::vector<int>& concurrencies = {2}) {
  ChannelTimes times;
  times.empty_s = 0.5 * latency_s;
  times.empty_synchronous_s = latency_s;
  times.eager_limit_bytes = 4096.0;
  times.loggp.send_overhead_s = times.loggp.receive_overhead_s = 0.1 * latency_s;
  for (double bytes = 8.0; bytes <= 65536.0; bytes *= 2.0) {
    times.one_way.push_back({bytes, latency_s + bytes / bandwidth_bytes_per_s});
    times.loggp.trains.push_back({bytes, 0.3 * latency_s + bytes / bandwidth_bytes_per_s});
    for (const int tau : concurrencies) {
      times.rings[tau].push_back({bytes, latency_s + tau * bytes / bandwidth_bytes_per_s});
    }
  }
  return times;
}

ChannelPlan plan(Channel::Scope scope, const std::string& from, const std::string& to) {
  ChannelPlan plan;
  plan.channel.name = scope == Channel::Scope::node ? "shared memory" : "network";
  plan.channel.scope = scope;
  plan.channel.between = {from, to};
  return plan;
}

ChannelPlan shared_memory(const std::string& kind) { return plan(Channel::Scope::node, kind, kind); }
ChannelPlan network(const std::string& from, const std::string& to) { return plan(Channel::Scope::network, from, to); }

/// Everything of a channel as text.
std::string text_of(const Channel& channel) {
  Platform platform;
  platform.channels.push_back(channel);
  return platform_json(platform).dump();
}

const ChannelTimes fast = linear_times(1e-6, 1e10);
const ChannelTimes slow = linear_times(2e-5, 1e9);

}  // namespace

TEST_CASE("shared memory comes first and crosses a buffer; a network crosses those of both of its nodes") {
  Platform platform;
  CHECK(add_channel(platform, shared_memory("fat"), fast) == 0);
  CHECK(add_channel(platform, network("fat", "fat"), slow) == 1);
  CHECK(platform.channel(0).path == std::vector<int>{0, 0});
  CHECK(platform.channel(1).path == std::vector<int>{0, 1, 0});
  const int thin = add_channel(platform, shared_memory("thin"), linear_times(1e-6, 8e9));
  CHECK(thin == 2);
  CHECK(platform.channel(2).path == std::vector<int>{2, 2});
  const int between = add_channel(platform, network("fat", "thin"), slow);
  CHECK(between == 3);
  CHECK(platform.channel(between).path == std::vector<int>{0, between, thin});
  for (const Channel& channel : platform.channels) {
    CHECK(channel.tau_lop);
    CHECK(channel.loggp);
    CHECK_FALSE(channel.hockney.empty());
  }
}

TEST_CASE("a channel of the platform costs what was measured of it") {
  Platform platform;
  add_channel(platform, shared_memory("a"), fast);
  add_channel(platform, network("a", "a"), slow);
  const TauLop model(platform);
  for (const auto& [id, times] : std::map<int, ChannelTimes>{{0, fast}, {1, slow}}) {
    for (std::size_t i = 0; i < times.one_way.size(); ++i) {
      const double bytes = times.one_way[i].bytes;
      CAPTURE(id, bytes);
      CHECK_THAT(model.transmission_s(id, bytes), WithinRel(times.one_way[i].time_s, 1e-9));
      CHECK_THAT(model.transmission_s(id, bytes, 2), WithinRel(times.rings.at(2)[i].time_s, 1e-9));
    }
  }
}

TEST_CASE("without the nodes' shared memory, or where it alone takes longer, a network is crossed directly") {
  Platform unknown;
  CHECK(add_channel(unknown, network("a", "a"), slow) == 1);
  CHECK(unknown.channel(1).path == std::vector<int>{1});
  add_channel(unknown, shared_memory("a"), fast);
  // Of another kind of node.
  const int other = add_channel(unknown, network("a", "b"), slow);
  CHECK(unknown.channel(other).path == std::vector<int>{other});
  Platform direct;
  add_channel(direct, shared_memory("a"), slow);
  CHECK(add_channel(direct, network("a", "a"), fast) == 1);
  CHECK(direct.channel(1).path == std::vector<int>{1});
}

TEST_CASE("a channel replaces that of the same kind and keeps all others") {
  Platform platform;
  add_channel(platform, shared_memory("a"), fast);
  add_channel(platform, shared_memory("b"), fast);
  add_channel(platform, network("a", "b"), slow);
  Channel copies;
  copies.name = "host to device, pinned";
  copies.scope = Channel::Scope::device;
  copies.hockney = fit_piecewise_hockney(fast.one_way).segments;
  const int device = put_channel(platform, copies).id;
  CHECK(device > 0);
  std::map<int, std::string> before;
  for (const Channel& channel : platform.channels) before[channel.id] = text_of(channel);
  CHECK(before.size() == 4);

  const auto changed = [&] {
    std::vector<int> ids;
    CHECK(platform.channels.size() == before.size());
    for (const Channel& channel : platform.channels) {
      if (text_of(channel) != before[channel.id]) ids.push_back(channel.id);
      before[channel.id] = text_of(channel);
    }
    return ids;
  };
  const ChannelTimes slower = linear_times(3e-5, 5e8);
  const int b = add_channel(platform, shared_memory("b"), linear_times(1e-6, 9e9));
  CHECK(changed() == std::vector<int>{b});
  // The way back is the same channel.
  const int back = add_channel(platform, network("b", "a"), slower);
  CHECK(platform.channel(back).scope == Channel::Scope::network);
  CHECK(changed() == std::vector<int>{back});
  copies.hockney = fit_piecewise_hockney(slow.one_way).segments;
  CHECK(put_channel(platform, copies).id == device);
  CHECK(changed() == std::vector<int>{device});
  // Channels of one scope by other names are others.
  copies.name = "device to host, pinned";
  CHECK(put_channel(platform, copies).id != device);
  CHECK(platform.channels.size() == 5);
}

TEST_CASE("ids are unique and 0 belongs to the inside of a node, in whatever order channels come") {
  std::vector<ChannelPlan> plans{network("a", "b"), network("b", "b"), shared_memory("b"), shared_memory("a"),
                                 network("a", "a")};
  const auto less = [](const ChannelPlan& one, const ChannelPlan& other) {
    return one.channel.between < other.channel.between;
  };
  std::sort(plans.begin(), plans.end(), less);
  do {
    Platform platform;
    std::vector<int> ids;
    for (const ChannelPlan& plan : plans) ids.push_back(add_channel(platform, plan, slow));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const bool is_node = plans[i].channel.scope == Channel::Scope::node;
      if (!is_node) CHECK(ids[i] >= 1);
      CHECK(platform.channel(ids[i]).scope == plans[i].channel.scope);
      CHECK(platform.channel(ids[i]).between == plans[i].channel.between);
    }
    std::sort(ids.begin(), ids.end());
    CHECK(ids.front() == 0);
    CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  } while (std::next_permutation(plans.begin(), plans.end(), less));
}

TEST_CASE("empty messages that something disturbed do not make a channel impossible") {
  // A ring takes less than an empty message did.
  ChannelTimes disturbed = fast;
  disturbed.empty_s = disturbed.empty_synchronous_s = 1e-3;
  for (MessageTime& message : disturbed.one_way) message.time_s *= 2.0;
  Platform platform;
  CHECK(add_channel(platform, shared_memory("a"), disturbed) == 0);
  const TauLop model(platform);
  for (std::size_t i = 0; i < fast.one_way.size(); ++i) {
    const double bytes = fast.one_way[i].bytes;
    CHECK(model.overhead_s(0, bytes) >= 0.0);
    CHECK(model.transmission_s(0, bytes) <= model.transmission_s(0, bytes, 2));
  }
}

TEST_CASE("times that make no channel leave the platform as it was") {
  Platform platform;
  add_channel(platform, shared_memory("a"), fast);
  const std::string before = platform_json(platform).dump();
  ChannelTimes missing = slow;
  missing.rings[2].pop_back();
  for (const ChannelPlan& plan : {shared_memory("a"), shared_memory("b"), network("a", "a")}) {
    CHECK_THROWS_AS(add_channel(platform, plan, missing), InvalidArgument);
    CHECK(platform_json(platform).dump() == before);
  }
}

TEST_CASE("every node has a kind and cores, and all ranks know the same of all") {
  const std::vector<NodeFacts> facts = gather_node_facts(session());
  CHECK(facts.size() == static_cast<std::size_t>(session().nodes().count()));
  std::vector<double> numbers;
  for (const NodeFacts& node : facts) {
    CHECK_FALSE(node.kind.empty());
    CHECK(node.cores >= 1);
    CHECK(node.cores <= static_cast<int>(session().machine().cores().size()));
    numbers.push_back(node.cores);
    for (const char letter : node.kind) numbers.push_back(letter);
  }
  CHECK(same_on_all_ranks(numbers));
}

TEST_CASE("what is measured here becomes a platform that is read back as it was written, the same on all ranks") {
  if (session().size() < 2) return;
  // More ranks than cores do no harm to a test.
  std::vector<NodeFacts> facts = gather_node_facts(session());
  for (NodeFacts& node : facts) node.cores = session().size();
  const CalibrationPlan plan = plan_calibration(session().nodes(), facts);
  const CalibrationDepth depth{1024, 1 << 18, 1e-5};
  Platform platform;
  // A busy machine may leave times that do not grow with size.
  CHECK(eventually([&] {
    ChannelMeasurement measurement(session().comm(), plan.channels, depth);
    measurement.round();
    const std::vector<MeasuredChannel> measured = measurement.result();
    platform = {};
    try {
      for (std::size_t i = 0; i < measured.size(); ++i) add_channel(platform, plan.channels[i], measured[i].times);
    } catch (const InvalidArgument&) {
      return false;
    }
    return true;
  }));
  CHECK(platform.channels.size() == plan.channels.size());
  const std::string text = platform_json(platform).dump();
  CHECK(same_on_all_ranks({text.begin(), text.end()}));
  for (const ChannelPlan& planned : plan.channels) {
    const auto channel = std::find_if(platform.channels.begin(), platform.channels.end(), [&](const Channel& found) {
      return found.scope == planned.channel.scope && found.between == planned.channel.between;
    });
    CHECK(channel != platform.channels.end());
    if (channel == platform.channels.end()) continue;
    CHECK(channel->tau_lop->transfer.largest_concurrency() == planned.concurrencies.back());
  }
  const TemporaryFolder folder;
  write_platform_file(folder / "here.platform.json", platform);
  CHECK(platform_json(read_platform_file(folder / "here.platform.json")).dump() == text);
}

}  // namespace steelyard::test_calibration
