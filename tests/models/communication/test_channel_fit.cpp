#include <functional>

#include "models/communication/channel_fit.hpp"
#include "tests/catch.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_channel_fit {

using namespace steelyard::models;
using tests::additive_platform;
using tests::Random;
using tests::uniform;

namespace {

using Path = std::vector<int>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> sizes = {8.0, 64.0, 512.0, 4096.0};
const std::vector<int> rings = {2, 3, 6, 8};
/// Channel 1 alone, through a buffer of its own, and through those of channel 0.
const std::vector<Path> paths = {{1}, {1, 1}, {0, 1, 0}};

/// Shared memory that other channels may go through: 8 bytes a second, less and less for each of several.
Platform memory() { return additive_platform({{0, {8.0, 0.5}}}); }

/// T(m, tau).
using Seconds = std::function<double(double bytes, int concurrency)>;

ChannelTimes times_of(const Seconds& seconds) {
  ChannelTimes times;
  for (const double bytes : sizes) {
    times.one_way.push_back({bytes, seconds(bytes, 1)});
    for (const int tau : rings) times.rings[tau].push_back({bytes, seconds(bytes, tau)});
  }
  return times;
}

double time_s(const ChannelTimes& times, std::size_t size, int concurrency) {
  return concurrency == 1 ? times.one_way[size].time_s : times.rings.at(concurrency)[size].time_s;
}

/// What the transfers of channel 0 on the path take.
double others_s(const Path& path, double bytes, int concurrency) {
  const auto count = static_cast<double>(std::count(path.begin(), path.end(), 0));
  return count * memory().channel(0).tau_lop->transfer.time_s(bytes, concurrency);
}

}  // namespace

TEST_CASE(
    "overhead is an empty message or the most that leaves transfers within the restrictions, the rest is theirs") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    for (const Path& path : paths) {
      const double noise = uniform(random, 0.0, 3.0);
      ChannelTimes times = times_of([&](double bytes, int tau) {
        const double own_s = 1.0 + 0.05 * bytes * std::pow(tau, uniform(random, 0.0, 1.0));
        return others_s(path, bytes, tau) + own_s * std::exp(uniform(random, -noise, noise));
      });
      times.empty_s = std::exp(uniform(random, -noise, noise));
      times.empty_synchronous_s = std::exp(uniform(random, -noise, noise));
      times.eager_limit_bytes = trial % 2 == 0 ? 64.0 : 100.0;
      const TauLopTables fit = fit_tau_lop(times, 1, path, memory());
      const auto own = static_cast<double>(std::count(path.begin(), path.end(), 1));
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto rest_s = [&](int tau) { return time_s(times, i, tau) - others_s(path, sizes[i], tau); };
        double overhead_s = std::min(sizes[i] <= 64.0 ? times.empty_s : times.empty_synchronous_s, rest_s(1));
        for (const int tau : rings) {
          overhead_s = std::min({overhead_s, rest_s(tau), (tau * rest_s(1) - rest_s(tau)) / (tau - 1)});
        }
        overhead_s = std::max(0.0, overhead_s);
        REQUIRE_THAT(fit.overhead.points()[i].time_s, WithinAbs(overhead_s, 1e-9));
        for (const TransferPoint& point : fit.transfer.points()) {
          if (point.bytes != sizes[i]) continue;
          REQUIRE_THAT(point.time_s, WithinAbs((rest_s(point.concurrency) - overhead_s) / own, 1e-9));
        }
      }
    }
  }
}

TEST_CASE("a channel is fitted in all models from the same messages") {
  const LogGP truth{3.0, 1.0, 2.0, 4.0, 0.5};
  ChannelTimes times = times_of([&](double bytes, int tau) { return truth.time_s(bytes) + (tau - 1) * 0.1 * bytes; });
  times.error = 0.25;
  times.loggp.send_overhead_s = 1.0;
  times.loggp.receive_overhead_s = 2.0;
  for (const double bytes : sizes) times.loggp.trains.push_back({bytes, 4.0 + (bytes - 1.0) * 0.5});
  Channel channel;
  channel.id = 1;
  channel.name = "network";
  channel.scope = Channel::Scope::network;
  channel.path = {1, 1};
  channel.between = {"fat", "thin"};
  const Channel fit = fit_channel(times, channel, {});
  CHECK((fit.id == 1 && fit.name == "network" && fit.scope == Channel::Scope::network && fit.path == Path{1, 1}));
  CHECK((fit.between == channel.between && fit.error == 0.25));
  for (const MessageTime& message : times.one_way) {
    CHECK_THAT(fit.time_s(message.bytes), WithinRel(message.time_s, 1e-9));
    CHECK_THAT(fit.loggp.value().time_s(message.bytes), WithinRel(message.time_s, 1e-9));
  }
  CHECK(fit.tau_lop.value().transfer.points() == fit_tau_lop(times, 1, {1, 1}, {}).transfer.points());
  times.loggp.trains.clear();
  CHECK_THROWS_AS(fit_channel(times, channel, {}), InvalidArgument);
}

TEST_CASE("LogGP's gap per byte is that of long messages, whatever short ones take") {
  ChannelTimes times;
  times.loggp.send_overhead_s = times.loggp.receive_overhead_s = 1e-7;
  for (double bytes = 8.0; bytes <= 4194304.0; bytes *= 2.0) {
    const bool is_short = bytes <= 4096.0;
    times.one_way.push_back({bytes, is_short ? 1e-6 + bytes / 1e9 : 5e-6 + bytes / 1e10});
    times.loggp.trains.push_back({bytes, is_short && bytes > 8.0 ? 9e-7 + bytes / 1e9 : 4e-7 + (bytes - 1.0) / 1e10});
  }
  Channel channel;
  channel.path = {0};
  const Channel fit = fit_channel(times, channel, {});
  CHECK(fit.hockney.size() == 2);
  CHECK_THAT(fit.loggp.value().gap_per_byte_s, WithinRel(1e-10, 1e-9));
  CHECK_THAT(fit.loggp->gap_s, WithinRel(4e-7, 1e-9));
}

TEST_CASE("times that are missing, doubled or impossible, and paths that do not fit them, are refused") {
  const ChannelTimes good = times_of([](double bytes, int tau) { return 1.0 + 0.2 * bytes * tau; });
  const auto refused = [](const ChannelTimes& times, const std::string& what, const Path& path = {1},
                          const Platform& platform = memory()) {
    CHECK_THROWS_MATCHES(fit_tau_lop(times, 1, path, platform), InvalidArgument,
                         MessageMatches(ContainsSubstring(what)));
  };
  const auto refused_if = [&](const std::function<void(ChannelTimes&)>& change, const std::string& what) {
    ChannelTimes times = good;
    change(times);
    refused(times, what);
  };
  CHECK_NOTHROW(fit_tau_lop(good, 1, {1}, {}));
  refused({}, "no times of single transmissions");
  refused_if([](ChannelTimes& times) { times.rings[3].pop_back(); }, "3 sizes of 3 concurrent");
  refused_if([](ChannelTimes& times) { times.one_way.pop_back(); }, "expected the same");
  refused_if([](ChannelTimes& times) { times.rings[6][1].bytes = 65.0; }, "no time of 64 bytes, 6 at once");
  refused_if([](ChannelTimes& times) { times.one_way[1].bytes = 8.0; }, "two times of 8 bytes, 1 at once");
  refused_if([](ChannelTimes& times) { times.rings[1] = times.one_way; }, "ring of 1");
  for (const double size : {0.0, -1.0, not_a_number}) {
    refused_if([=](ChannelTimes& times) { times.one_way[0].bytes = size; }, "finite size > 0");
  }
  for (const double time : {-1.0, not_a_number, std::numeric_limits<double>::infinity()}) {
    refused_if([=](ChannelTimes& times) { times.rings[2][0].time_s = time; }, "finite time >= 0");
    refused_if([=](ChannelTimes& times) { times.empty_s = time; }, "empty message");
    refused_if([=](ChannelTimes& times) { times.empty_synchronous_s = time; }, "empty message");
  }
  // Paths without the channel, with unknown channels, or longer than what was measured.
  refused(good, "channel 1 is not on its own path", {0, 0});
  refused(good, "channel 1 is not on its own path", {});
  refused(good, "channel 7", {7, 1});
  refused(good, "the other transfers of the path take longer", {0, 0, 1, 0});
  refused(good, "at most the 4", {0, 1}, additive_platform({{0, {8.0, 0.5}}}, 4));
  Platform without = memory();
  without.channels[0].tau_lop.reset();
  refused(good, "channel 0 has no tau-Lop parameters", {0, 1}, without);
}

}  // namespace steelyard::test_channel_fit
