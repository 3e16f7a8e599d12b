#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "models/communication/platform.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_platform {

using nlohmann::json;
using namespace steelyard::models;
using tests::Random;
using tests::TemporaryFolder;
using tests::uniform;
using tests::whole;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const json removed(json::value_t::discarded);

json segment(const json& up_to_bytes, double latency_s, double bandwidth) {
  return {{"up_to_bytes", up_to_bytes}, {"latency_s", latency_s}, {"bandwidth_bytes_per_s", bandwidth}};
}

json tau_lop(double seconds_per_byte) {
  return {{"overhead", {{{"bytes", 0}, {"time_s", 1e-7}}, {{"bytes", 4096}, {"time_s", 3e-7}}}},
          {"transfer",
           {{{"bytes", 4096}, {"concurrency", 1}, {"time_s", 4096 * seconds_per_byte}},
            {{"bytes", 65536}, {"concurrency", 1}, {"time_s", 65536 * seconds_per_byte}},
            {{"bytes", 65536}, {"concurrency", 4}, {"time_s", 2 * 65536 * seconds_per_byte}}}}};
}

/// Shared memory in two segments and a network, each with everything that a channel can have.
json two_channels() {
  const json loggp = {{"latency_s", 1e-6},
                      {"send_overhead_s", 2e-7},
                      {"receive_overhead_s", 3e-7},
                      {"gap_s", 4e-7},
                      {"gap_per_byte_s", 1e-10}};
  return {{"schema", "steelyard.platform/1"},
          {"commit", "0123abc"},
          {"mpi", "Open MPI 4.1.4"},
          {"channels",
           {{{"id", 0},
             {"name", "shared memory"},
             {"scope", "node"},
             {"path", {0, 0}},
             {"hockney", {{"segments", {segment(4096, 1e-7, 5e9), segment(nullptr, 1e-6, 1e10)}}}},
             {"loggp", loggp},
             {"error", 0.125},
             {"tau_lop", tau_lop(1e-10)}},
            {{"id", 1},
             {"name", "network"},
             {"scope", "network"},
             {"path", {0, 1, 0}},
             {"between", {"fat", "thin"}},
             {"hockney", {{"segments", {segment(nullptr, 2e-6, 1e9)}}}},
             {"loggp", loggp},
             {"tau_lop", tau_lop(1e-9)}}}},
          {"nodes",
           {{{"host", "a"}, {"kind", "fat"}, {"cores", 64}, {"memory_bytes_per_s", 2e11}},
            {{"host", "b"}, {"kind", "thin"}, {"cores", 8}}}}};
}

Platform read(const json& value) {
  const TemporaryFolder folder;
  return read_platform_file(folder.write("m.platform.json", value.dump()));
}

std::string any_text(Random& random) {
  static const std::vector<std::string> pieces{"", "a", "node-7", "\"", "\\", "\n", "\t", "τ-Lop", "{[", "null"};
  std::string text = "x";
  for (int i = whole(random, 0, 4); i > 0; --i) text += pieces[static_cast<std::size_t>(whole(random, 0, 9))];
  return text;
}

/// The file of two channels with other times and words, of any size.
json any_platform(Random& random) {
  json leaves = two_channels().flatten();
  for (auto& [pointer, value] : leaves.items()) {
    const bool is_odd = whole(random, 0, 4) == 0 && !pointer.ends_with("per_s") && !pointer.ends_with("error");
    if (value.is_number_float()) {
      value = is_odd ? std::vector{0.0, -0.0, std::numeric_limits<double>::denorm_min()}[whole(random, 0, 2)]
                     : std::exp(uniform(random, -700.0, 700.0));
    } else if (value.is_string() && pointer != "/schema" && !pointer.ends_with("scope")) {
      value = any_text(random);
    }
  }
  return leaves.unflatten();
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

TEST_CASE("what is read is written as it was, to the last bit and byte") {
  Random random(2);
  const TemporaryFolder folder;
  for (int trial = 0; trial < 300; ++trial) {
    const json value = any_platform(random);
    const Platform platform = read(value);
    write_platform_file(folder / "a.platform.json", platform);
    const std::string bytes = folder.read("a.platform.json");
    INFO(bytes);
    REQUIRE(json::parse(bytes) == value);
    const Platform again = read_platform_file(folder / "a.platform.json");
    CHECK(again.path == (folder / "a.platform.json").string());
    write_platform_file(folder / "b.platform.json", again);
    REQUIRE(folder.read("b.platform.json") == bytes);
  }
  CHECK(folder.entries() == 2);
}

TEST_CASE("a file that was written by hand is read as it says") {
  const Platform platform = read(two_channels());
  const LogGP& loggp = *platform.channel(1).loggp;
  CHECK((loggp.latency_s == 1e-6 && loggp.send_overhead_s == 2e-7 && loggp.receive_overhead_s == 3e-7));
  CHECK((loggp.gap_s == 4e-7 && loggp.gap_per_byte_s == 1e-10));
  const Hockney& hockney = platform.channel(1).hockney.at(0).hockney;
  CHECK((hockney.latency_s == 2e-6 && hockney.bandwidth_bytes_per_s == 1e9));
  CHECK(platform.channel(1).tau_lop->transfer.points()[2] == TransferPoint{65536.0, 4, 2 * 65536 * 1e-9});
  CHECK(platform.channel(1).tau_lop->overhead.time_s(1e9) == 3e-7);  // constant beyond measured sizes
}

TEST_CASE("only id and path are required of a channel, and null is as good as nothing") {
  json value = {{"schema", "steelyard.platform/1"},
                {"channels", {{{"id", 3}, {"path", {3}}}, {{"id", 0}, {"path", {0}}}}},
                {"nodes", {json::object(), {{"host", "c"}}}}};
  for (const char* key : {"commit", "mpi"}) value[key] = nullptr;
  for (const char* key : {"name", "scope", "between", "hockney", "loggp", "tau_lop", "error"}) {
    value["channels"][1][key] = nullptr;
  }
  const Platform platform = read(value);
  CHECK(platform.nodes == std::vector<PlatformNode>{{"", "", 0}, {"c", "", 0}});
  // Without a scope channel 0 is inside nodes and the others are networks.
  CHECK(platform.channel(0).scope == Channel::Scope::node);
  CHECK(platform.channel(3).scope == Channel::Scope::network);
  for (const Channel& channel : platform.channels) {
    CHECK(channel.name == "channel " + std::to_string(channel.id));
    CHECK((channel.between.empty() && channel.hockney.empty() && !channel.loggp && !channel.tau_lop));
    CHECK(channel.error == 0.0);
  }
  value["nodes"] = nullptr;
  CHECK(read(value).nodes.empty());
}

TEST_CASE("a channel is found by its id, its time by the segment that holds the size, the slowest memory of all") {
  Platform platform = read(two_channels());
  CHECK((platform.memory_bytes_per_s() == 2e11 && platform.error() == 0.125));
  CHECK((Platform{}.memory_bytes_per_s() == 0.0 && Platform{}.error() == 0.0));
  std::reverse(platform.channels.begin(), platform.channels.end());
  const Channel& channel = platform.channel(0);
  CHECK(channel.name == "shared memory");
  for (const double bytes : {4096.0, 4096.5}) {
    CHECK(channel.time_s(bytes) == channel.hockney[bytes <= 4096.0 ? 0 : 1].hockney.time_s(bytes));
  }
  platform.nodes.push_back({"c", "fat", 1, 1e11});
  CHECK(platform.memory_bytes_per_s() == 1e11);
  platform.channels[0].error = 0.2;
  CHECK(platform.error() == 0.2);
  platform.path = "lab.platform.json";
  CHECK_THROWS_MATCHES(platform.channel(7), InvalidArgument,
                       MessageMatches(ContainsSubstring("lab.platform.json: has no channel 7 (expected one of 1, 0)")));
  CHECK_THROWS_AS(Platform{}.channel(0), InvalidArgument);
  platform.channels[0].hockney.clear();
  CHECK_THROWS_AS(platform.channel(1).time_s(8.0), InvalidArgument);
}

TEST_CASE("a platform file with a mistake is refused with file and key") {
  const std::string segments = "/channels/0/hockney/segments", tables = "/channels/0/tau_lop";
  std::map<std::string, std::vector<json>> mistakes{
      {"/schema", {removed, "steelyard.fpm/1"}},
      {"/channels", {removed, "none"}},
      {"/channels/1", {5, "none"}},
      {"/channels/1/id", {removed, 0.5, 1e300, 0}},
      {"/channels/1/scope", {"inside", 1}},
      {"/channels/1/path",
       {removed, 1, json::array(), json::array({0.5}), json::array({4294967296}), json::array({0, 7, 0})}},
      {"/channels/1/between", {"fat", json::array({"a"}), json::array({"a", "b", "c"})}},
      {"/channels/1/error", {-0.1, "none"}},
      {"/nodes/1/cores", {1.5, -2}},
      {segments, {removed, json::array()}},
      {segments + "/1/up_to_bytes", {4096, 100}},
      {segments + "/0/up_to_bytes", {0, -1}},
      {segments + "/0/bandwidth_bytes_per_s", {0.0, removed}},
      {tables + "/overhead", {removed, json::array()}},
      {tables + "/transfer", {removed, json::array()}},
      {tables + "/transfer/2/concurrency", {0, 4294967297}}};
  for (const std::string name : {"latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "gap_per_byte_s"}) {
    mistakes["/channels/0/loggp/" + name].push_back(removed);
  }
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& pointer, const json& wrong, const std::string& start) {
    json value = two_channels();
    const json::json_pointer place(pointer);
    if (wrong.is_discarded()) {
      value[place.parent_pointer()].erase(place.back());
    } else {
      value[place] = wrong;
    }
    INFO(pointer << ": " << value.dump());
    const auto path = folder.write("m.platform.json", value.dump());
    CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                         MessageMatches(StartsWith(path.string() + ": " + start)));
  };
  for (const auto& [pointer, values] : mistakes) {
    std::string key = std::regex_replace(pointer.substr(1), std::regex("/([0-9]+)"), "[$1]");
    std::ranges::replace(key, '/', '.');
    for (const json& wrong : values) refused(pointer, wrong, key + ": ");
  }
  // Nothing is a truth value and no number is negative.
  const json leaves = two_channels().flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    refused(pointer, true, "");
    if (value.is_number()) refused(pointer, -1, "");
  }
  // What is wrong only beside something else, which is named.
  refused("/channels/1/id", 2, "channels[1].path: ");
  refused(segments + "/1/up_to_bytes", 8192, "channels[0].hockney.segments: ");
  refused(segments + "/0/up_to_bytes", nullptr, "channels[0].hockney.segments[1].up_to_bytes: ");
  refused(tables + "/overhead/0/bytes", 4096, "channels[0].tau_lop.overhead: ");
  refused(tables + "/transfer/2/bytes", 0, "channels[0].tau_lop.transfer: ");
  refused(tables + "/transfer/2/concurrency", 1, "channels[0].tau_lop.transfer: ");
  refused(tables, removed, "channels[1].path: ");
}

TEST_CASE("a platform file that is missing, a folder, not JSON or cut off anywhere is refused with its name") {
  const TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& path) {
    CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError, MessageMatches(StartsWith(path.string() + ": ")));
  };
  refused(folder / "none.platform.json");
  refused(folder.path());
  refused(folder.write("large", "{\"channels\": [{\"id\": 1e999}]}"));
  refused(folder.write("array", "[]"));
  const std::string whole_file = two_channels().dump(1);
  for (std::size_t bytes = 0; bytes < whole_file.size(); bytes += 7) {
    refused(folder.write("m.platform.json", whole_file.substr(0, bytes)));
  }
}

TEST_CASE("a platform that could not be read back is not written") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& key, const auto& change) {
    Platform platform = read(two_channels());
    change(platform);
    const auto path = folder / "m.platform.json";
    CHECK_THROWS_MATCHES(write_platform_file(path, platform), InvalidArgument,
                         MessageMatches(StartsWith(path.string() + ": " + key + ": ")));
    CHECK(folder.entries() == 0);
  };
  refused("channels[1].id", [](Platform& p) { p.channels[1].id = 0; });
  refused("channels[1].path", [](Platform& p) { p.channels[1].path.clear(); });
  refused("channels[1].path", [](Platform& p) { p.channels[0].tau_lop.reset(); });
  refused("channels[1].hockney.segments[0].up_to_bytes",
          [](Platform& p) { p.channels[1].hockney[0].up_to_bytes = -infinity; });
  refused("channels[1].loggp.gap_s",
          [](Platform& p) { p.channels[1].loggp->gap_s = std::numeric_limits<double>::quiet_NaN(); });
  refused("nodes[0].cores", [](Platform& p) { p.nodes[0].cores = -2; });
}

TEST_CASE("a message takes what Hockney's segments say, over two links of a cluster or the loopback of a node") {
  Platform platform = read(two_channels());
  platform.channels[1].hockney = {{1000.0, {2e-5, 1e8}}, {64e3, {3e-5, 5e8}}, {infinity, {1e-4, 1e9}}};
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
  Platform platform = read(two_channels());
  platform.channels[1].tau_lop.reset();
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
  Platform platform = read(two_channels());
  CHECK_THROWS_AS(simgrid_platform(platform, {0, 1, 1e9}), InvalidArgument);
  CHECK_THROWS_AS(simgrid_platform(platform, {1, 1, 0.0}), InvalidArgument);
  platform.channels[1].hockney = platform.channels[0].hockney;
  platform.channels[1].hockney.front().hockney.latency_s = 0.0;
  CHECK_THROWS_AS(simgrid_platform(platform, {2, 1, 1e9}), InvalidArgument);
  platform.channels.pop_back();
  CHECK_NOTHROW(simgrid_platform(platform, {1, 1, 1e9}));
  CHECK_THROWS_AS(simgrid_platform(platform, {2, 1, 1e9}), InvalidArgument);
  platform.channels.front().hockney.clear();
  CHECK_THROWS_AS(simgrid_platform(platform, {1, 1, 1e9}), InvalidArgument);
}

}  // namespace steelyard::test_platform
