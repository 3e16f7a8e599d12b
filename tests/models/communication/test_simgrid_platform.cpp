#include <sstream>

#include "models/communication/simgrid_platform.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_simgrid_platform {

using namespace steelyard::models;

namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

Platform two_channels() {
  Platform platform;
  Channel memory, network;
  memory.hockney = {{4096.0, {1e-6, 2e9}}, {no_end, {4e-6, 8e9}}};
  network.id = 1;
  network.scope = Channel::Scope::network;
  network.hockney = {{1000.0, {2e-5, 1e8}}, {64e3, {3e-5, 5e8}}, {no_end, {1e-4, 1e9}}};
  platform.channels = {memory, network};
  return platform;
}

/// What stands between `key="` and the next quotation mark.
std::string attribute(const std::string& xml, const std::string& key) {
  const std::size_t start = xml.find(key + "=\"");
  REQUIRE(start != std::string::npos);
  const std::size_t from = start + key.size() + 2;
  return xml.substr(from, xml.find('"', from) - from);
}

/// As SMPI does: the factor of the last size that is not larger.
double factor(const std::string& list, double bytes) {
  std::istringstream entries(list);
  double found = 1.0;
  for (std::string entry; std::getline(entries, entry, ';');) {
    const std::size_t colon = entry.find(':');
    if (std::stod(entry) < bytes) found = std::stod(entry.substr(colon + 1));
  }
  return found;
}

}  // namespace

TEST_CASE("a message takes what Hockney's segments say, over two links of a cluster or the loopback of a node") {
  const Platform platform = two_channels();
  for (const int nodes : {1, 16}) {
    const std::string xml = simgrid_platform(platform, {nodes, 2, 1e9});
    CHECK(attribute(xml, "radical") == "0-" + std::to_string(nodes - 1));
    const Channel& channel = platform.channels[nodes > 1 ? 1 : 0];
    const std::string latencies = attribute(xml, "smpi/lat-factor\" value");
    const std::string bandwidths = attribute(xml, "smpi/bw-factor\" value");
    const double latency_s =
        nodes > 1 ? 2.0 * std::stod(attribute(xml, " lat")) : std::stod(attribute(xml, "loopback_lat"));
    const double bytes_per_s = std::stod(attribute(xml, nodes > 1 ? " bw" : "loopback_bw"));
    for (const double bytes : {1.0, 1000.0, 1001.0, 4096.0, 5000.0, 64e3, 1e7}) {
      CAPTURE(nodes, bytes);
      const double time_s = latency_s * factor(latencies, bytes) + bytes / (bytes_per_s * factor(bandwidths, bytes));
      CHECK_THAT(time_s, WithinRel(channel.time_s(bytes), 1e-12));
    }
  }
}

TEST_CASE("both directions share a link that moves no more bytes of two messages than of one, and no other") {
  Platform platform = two_channels();
  CHECK(attribute(simgrid_platform(platform, {2, 1, 1e9}), "sharing_policy") == "SPLITDUPLEX");
  // As many at once as Hockney's bandwidth, twice as many, and in between.
  for (const double factor : {1.0, 1.4, 1.6, 2.0}) {
    const double bytes = 1e6, both_s = 2.0 * bytes / (factor * 1e9);
    const TransferTable transfer({{bytes, 1, 0.5 * both_s}, {bytes, 2, both_s}});
    platform.channels[1].tau_lop = TauLopTables{SizeTable({{1e3, 0.0}}, SizeTable::Outside::constant), transfer};
    CAPTURE(factor);
    const std::string policy = attribute(simgrid_platform(platform, {2, 1, 1e9}), "sharing_policy");
    CHECK(policy == (factor < 1.5 ? "SHARED" : "SPLITDUPLEX"));
  }
}

TEST_CASE("a platform that lacks what SimGrid needs is refused by name") {
  Platform platform = two_channels();
  CHECK_THROWS_AS(simgrid_platform(platform, {0, 1, 1e9}), InvalidArgument);
  CHECK_THROWS_AS(simgrid_platform(platform, {1, 1, 0.0}), InvalidArgument);
  platform.channels[1].hockney.front().hockney.latency_s = 0.0;
  CHECK_THROWS_AS(simgrid_platform(platform, {2, 1, 1e9}), InvalidArgument);
  platform.channels.pop_back();
  CHECK_NOTHROW(simgrid_platform(platform, {1, 1, 1e9}));
  CHECK_THROWS_AS(simgrid_platform(platform, {2, 1, 1e9}), InvalidArgument);
  platform.channels.front().hockney.clear();
  CHECK_THROWS_AS(simgrid_platform(platform, {1, 1, 1e9}), InvalidArgument);
}

}  // namespace steelyard::test_simgrid_platform
