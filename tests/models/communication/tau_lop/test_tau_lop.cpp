#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_tau_lop {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

constexpr int measured_concurrency = 8;

/// Overheads and transfer times for up to 8 transfers, within the restrictions of the model.
TauLopTables random_tables(Random& random) {
  std::vector<SizeTable::Point> overhead;
  std::vector<TransferPoint> transfer;
  const double seconds_per_byte = uniform(random, 1e-10, 1e-9);
  for (const double bytes : {64.0, 4096.0, 1e6}) {
    overhead.push_back({bytes, uniform(random, 1e-7, 1e-5)});
    double time_s = seconds_per_byte * bytes;
    for (int concurrency = 1; concurrency <= measured_concurrency; concurrency *= 2) {
      transfer.push_back({bytes, concurrency, time_s});
      time_s *= uniform(random, 1.0, 2.0);
    }
  }
  return {SizeTable(overhead, SizeTable::Outside::constant), TransferTable(transfer)};
}

Channel channel(int id, const std::string& name, const std::vector<int>& path) {
  Channel channel;
  channel.id = id;
  channel.name = name;
  channel.path = path;
  return channel;
}

/// Shared memory (equation 1), a network through the memories of both nodes (2), one that writes into the receiver's
/// memory (3), and one without parameters.
Platform random_platform(Random& random) {
  Platform platform;
  platform.channels = {channel(0, "shared memory", {0, 0}), channel(1, "TCP", {0, 1, 0}),
                       channel(2, "InfiniBand", {2}),       channel(3, "unmeasured", {3}),
                       channel(4, "through 3", {4, 3}),     channel(5, "to nowhere", {9})};
  for (Channel& channel : platform.channels) {
    if (channel.id != 3) channel.tau_lop = random_tables(random);
  }
  return platform;
}

/// o^c(m).
double o(const Platform& platform, int channel, double bytes) {
  return platform.channel(channel).tau_lop->overhead.time_s(bytes);
}

/// L^c(m, tau).
double l(const Platform& platform, int channel, double bytes, std::int64_t tau) {
  return platform.channel(channel).tau_lop->transfer.time_s(bytes, tau);
}

}  // namespace

TEST_CASE("a transmission costs its overhead and the transfers of its path (001, equations 1-3)") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Platform p = random_platform(random);
    const TauLop model(p);
    const double m = uniform(random, 0.0, 2e6);
    REQUIRE_THAT(model.transmission_s(0, m), WithinRel(o(p, 0, m) + 2.0 * l(p, 0, m, 1), 1e-12));
    REQUIRE_THAT(model.transmission_s(1, m), WithinRel(o(p, 1, m) + 2.0 * l(p, 0, m, 1) + l(p, 1, m, 1), 1e-12));
    REQUIRE_THAT(model.transmission_s(2, m), WithinRel(o(p, 2, m) + l(p, 2, m, 1), 1e-12));
    for (const int channel : {0, 1, 2}) REQUIRE(model.overhead_s(channel, m) == o(p, channel, m));
  }
}

TEST_CASE("concurrent transmissions share channels, but no overhead") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Platform p = random_platform(random);
    const TauLop model(p);
    const double m = uniform(random, 0.0, 2e6);
    const int a = whole(random, 1, measured_concurrency);
    REQUIRE_THAT(model.transmission_s(0, m, a), WithinRel(o(p, 0, m) + 2.0 * l(p, 0, m, a), 1e-12));
    REQUIRE_THAT(model.transmission_s(1, m, a), WithinRel(o(p, 1, m) + 2.0 * l(p, 0, m, a) + l(p, 1, m, a), 1e-12));
    REQUIRE_THAT(model.transmission_s(2, m, a), WithinRel(o(p, 2, m) + l(p, 2, m, a), 1e-12));
    for (const int channel : {0, 1, 2}) {
      const double one_s = model.transmission_s(channel, m), all_s = model.transmission_s(channel, m, a);
      REQUIRE(one_s <= all_s * (1.0 + 1e-12));
      REQUIRE(all_s - o(p, channel, m) <= a * (one_s - o(p, channel, m)) * (1.0 + 1e-9) + 1e-18);
    }
  }
}

TEST_CASE("a message of no bytes costs its overhead") {
  Random random(3);
  const Platform p = random_platform(random);
  const TauLop model(p);
  for (const int channel : {0, 1, 2}) {
    CHECK(model.transmission_s(channel, 0.0) == o(p, channel, 0.0));
    CHECK(model.transmission_s(channel, 0.0, measured_concurrency) == o(p, channel, 0.0));
  }
}

TEST_CASE("more concurrent transmissions than measured are refused, or proportional if asked for") {
  Random random(4);
  const Platform p = random_platform(random);
  const TauLop refuses(p), extrapolates(p, BeyondMeasured::proportional);
  const std::int64_t a = std::int64_t{3} * measured_concurrency;
  CHECK_THROWS_MATCHES(refuses.transmission_s(2, 100.0, a), InvalidArgument,
                       MessageMatches(ContainsSubstring("channel 2 (InfiniBand)") && ContainsSubstring("24") &&
                                      ContainsSubstring("at most the 8")));
  CHECK_THROWS_MATCHES(refuses.transmission_s(1, 100.0, a), InvalidArgument,
                       MessageMatches(ContainsSubstring("channel 0 (shared memory)")));
  CHECK_THAT(extrapolates.transmission_s(1, 100.0, a),
             WithinRel(o(p, 1, 100.0) + 3.0 * (2.0 * l(p, 0, 100.0, 8) + l(p, 1, 100.0, 8)), 1e-12));
}

TEST_CASE("overhead matters up to the longest measured message of which it is more than a share") {
  Platform p;
  CHECK(TauLop(p).overhead_matters_up_to_bytes() == 0.0);
  p.channels = {channel(0, "memory", {0, 0}), channel(1, "unmeasured", {1}), channel(2, "network", {0, 2})};
  const auto overhead_s = [](double time_s) {
    return SizeTable({{1.0, time_s}, {10.0, time_s}, {100.0, time_s}}, SizeTable::Outside::constant);
  };
  // Shares of 1/3, 1/21 and 1/201 of a message through memory.
  p.channels[0].tau_lop = TauLopTables{overhead_s(1.0), TransferTable({{1.0, 1, 1.0}})};
  const TauLop model(p);
  CHECK(model.overhead_matters_up_to_bytes(0.5) == 0.0);
  CHECK(model.overhead_matters_up_to_bytes() == 1.0);
  CHECK(model.overhead_matters_up_to_bytes(0.04) == 10.0);
  CHECK(model.overhead_matters_up_to_bytes(0.004) == 100.0);
  // 3/5, 3/23 and 3/203 through the network.
  p.channels[2].tau_lop = TauLopTables{overhead_s(3.0), TransferTable({{1.0, 1, 1.0}})};
  CHECK(TauLop(p).overhead_matters_up_to_bytes(0.5) == 1.0);
  CHECK(TauLop(p).overhead_matters_up_to_bytes() == 10.0);
  CHECK(TauLop(p).overhead_matters_up_to_bytes(0.01) == 100.0);
  CHECK(TauLop(p).overhead_matters_up_to_bytes(1.0) == 0.0);
  // Of one of them, whatever the other has or lacks.
  CHECK(TauLop(p).overhead_matters_up_to_bytes(std::set<int>{0}) == 1.0);
  CHECK(TauLop(p).overhead_matters_up_to_bytes(std::set<int>{2}) == 10.0);
  CHECK(TauLop(p).overhead_matters_up_to_bytes(std::set<int>{}) == 0.0);
  CHECK_THROWS_AS(TauLop(p).overhead_matters_up_to_bytes(std::set<int>{1}), InvalidArgument);
  CHECK_THROWS_AS(TauLop(p).overhead_matters_up_to_bytes(std::set<int>{7}), InvalidArgument);
  p.channels[0].tau_lop = p.channels[2].tau_lop = TauLopTables{overhead_s(0.0), TransferTable({{1.0, 1, 1.0}})};
  CHECK(TauLop(p).overhead_matters_up_to_bytes(0.0) == 0.0);
}

TEST_CASE("beyond the size up to which overhead matters, it is no more than the share of any measured message") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    Platform p = random_platform(random);
    CHECK_THROWS_AS(TauLop(p).overhead_matters_up_to_bytes(), InvalidArgument);
    p.channels.resize(4);
    const TauLop model(p);
    double last = 2e6;
    for (const double share : {0.001, 0.01, 0.1, 0.3, 0.9, 1.0}) {
      const double largest = model.overhead_matters_up_to_bytes(share);
      bool matters = largest == 0.0;
      for (const int channel : {0, 1, 2}) {
        for (const SizeTable::Point& point : p.channel(channel).tau_lop->overhead.points()) {
          const bool above = point.time_s > share * model.transmission_s(channel, point.bytes);
          REQUIRE((point.bytes <= largest || !above));
          matters = matters || (point.bytes == largest && above);
        }
      }
      REQUIRE(matters);
      REQUIRE(largest <= last);
      last = largest;
    }
    CHECK(last == 0.0);
  }
}

TEST_CASE("what tau-Lop cannot cost is refused naming the channel") {
  Random random(5);
  const Platform p = random_platform(random);
  const TauLop model(p);
  const auto refused = [](const auto& call, const std::string& channel, const std::string& reason) {
    CHECK_THROWS_MATCHES(call(), InvalidArgument,
                         MessageMatches(ContainsSubstring(channel) && ContainsSubstring(reason)));
  };
  refused([&] { return model.transmission_s(7, 1.0); }, "channel 7", "0, 1, 2, 3, 4, 5");
  refused([&] { return model.overhead_s(7, 1.0); }, "channel 7", "0, 1, 2, 3, 4, 5");
  refused([&] { return model.transmission_s(5, 1.0); }, "channel 9", "0, 1, 2, 3, 4, 5");
  refused([&] { return model.transmission_s(3, 1.0); }, "channel 3 (unmeasured)", "no tau-Lop parameters");
  refused([&] { return model.overhead_s(3, 1.0); }, "channel 3 (unmeasured)", "no tau-Lop parameters");
  refused([&] { return model.transmission_s(4, 1.0); }, "channel 3 (unmeasured)", "no tau-Lop parameters");
  refused([&] { return model.transmission_s(1, -1.0); }, "channel 1 (TCP)", "-1 bytes");
  refused([&] { return model.overhead_s(1, -1.0); }, "channel 1 (TCP)", "-1 bytes");
  refused([&] { return model.transmission_s(2, 1.0, 0); }, "channel 2 (InfiniBand)", "0 concurrent");
}

}  // namespace steelyard::test_tau_lop
