#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/platform_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/models/random_models.hpp"
#include "tests/models/two_channels.hpp"

namespace steelyard::test_platform_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using nlohmann::json;
using namespace steelyard::models;
using tests::Random;
using tests::tau_lop;
using tests::TemporaryFolder;
using tests::two_channels;
using tests::uniform;
using tests::whole;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Platform read(const json& value) {
  const TemporaryFolder folder;
  return read_platform_file(folder.write("m.platform.json", value.dump()));
}

/// Any double >= 0 of any size.
double any_double(Random& random) {
  switch (whole(random, 0, 9)) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return std::numeric_limits<double>::denorm_min();
    case 3:
      return std::numeric_limits<double>::max();
    case 4:
      return whole(random, 0, 1000000);
    default:
      return std::exp(uniform(random, -700.0, 700.0));
  }
}

std::string any_text(Random& random) {
  static const std::vector<std::string> pieces{"",   "a",     "node-7", "\"", "\\",   "\n",
                                               "\t", "τ-Lop", " ",      "{[", "null", "0"};
  std::string text;
  for (int i = whole(random, 0, 4); i > 0; --i) {
    text += pieces[static_cast<std::size_t>(whole(random, 0, static_cast<int>(pieces.size()) - 1))];
  }
  return text;
}

std::vector<double> any_sizes(Random& random) {
  std::vector<double> sizes;
  double bytes = uniform(random, 0.0, 4.0);
  for (int i = whole(random, 1, 6); i > 0; --i) {
    bytes += whole(random, 0, 1) == 0 ? whole(random, 1, 1 << 20) : std::exp(uniform(random, -3.0, 20.0));
    sizes.push_back(bytes);
  }
  return sizes;
}

TauLopTables any_tables(Random& random) {
  std::vector<SizeTable::Point> overhead;
  for (const double bytes : any_sizes(random)) overhead.push_back({bytes, any_double(random)});
  if (whole(random, 0, 1) == 0) overhead.front().bytes = 0.0;
  std::vector<TransferPoint> transfer;
  for (const int concurrency : {1, 2, 7, std::numeric_limits<int>::max()}) {
    if (concurrency > 1 && whole(random, 0, 1) == 0) continue;
    for (const double bytes : any_sizes(random)) {
      transfer.push_back({bytes, concurrency, std::exp(uniform(random, -40.0, 20.0))});
    }
  }
  std::shuffle(transfer.begin(), transfer.end(), random);
  return {SizeTable(overhead, SizeTable::Outside::constant), TransferTable(transfer)};
}

/// A platform of up to five channels with any ids, each with some of the models. A path leads through channels with
/// tau-Lop parameters where its own channel has them.
Platform any_platform(Random& random) {
  Platform platform;
  platform.commit = any_text(random);
  platform.mpi = any_text(random);
  std::vector<int> ids, with_tau_lop;
  for (int i = whole(random, 0, 5); i > 0; --i) {
    Channel channel;
    channel.id = whole(random, 0, 3) == 0 ? std::numeric_limits<int>::max() - i : 10 * i + whole(random, 0, 9);
    channel.name = any_text(random);
    channel.scope = static_cast<Channel::Scope>(whole(random, 0, 2));
    if (whole(random, 0, 1) == 0) channel.between = {any_text(random), any_text(random)};
    for (const double bytes : any_sizes(random)) {
      channel.hockney.push_back({bytes, {any_double(random), std::exp(uniform(random, -700.0, 700.0))}});
    }
    channel.hockney.back().up_to_bytes = infinity;
    if (whole(random, 0, 1) == 0) channel.hockney.clear();
    if (whole(random, 0, 1) == 0) {
      channel.loggp = {any_double(random), any_double(random), any_double(random), any_double(random),
                       any_double(random)};
    }
    if (whole(random, 0, 1) == 0) channel.error = std::exp(uniform(random, -700.0, 700.0));
    if (whole(random, 0, 1) == 0) channel.tau_lop = any_tables(random);
    ids.push_back(channel.id);
    if (channel.tau_lop) with_tau_lop.push_back(channel.id);
    platform.channels.push_back(std::move(channel));
  }
  for (Channel& channel : platform.channels) {
    const std::vector<int>& through = channel.tau_lop ? with_tau_lop : ids;
    for (int i = whole(random, 1, 4); i > 0; --i) {
      channel.path.push_back(through[static_cast<std::size_t>(whole(random, 0, static_cast<int>(through.size()) - 1))]);
    }
  }
  for (int i = whole(random, 0, 3); i > 0; --i) {
    platform.nodes.push_back({any_text(random), any_text(random), whole(random, 0, 256), 1e9 / whole(random, 1, 1000)});
  }
  return platform;
}

/// All numbers of a channel, bit by bit, with a mark before each part.
std::vector<std::uint64_t> bits(const Channel& channel) {
  std::vector<std::uint64_t> all;
  const auto add = [&](auto... values) {
    (all.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(values))), ...);
  };
  add(channel.id, channel.error, channel.hockney.size());
  for (const HockneySegment& segment : channel.hockney) {
    add(segment.up_to_bytes, segment.hockney.latency_s, segment.hockney.bandwidth_bytes_per_s);
  }
  add(channel.loggp.has_value());
  if (channel.loggp) {
    add(channel.loggp->latency_s, channel.loggp->send_overhead_s, channel.loggp->receive_overhead_s,
        channel.loggp->gap_s, channel.loggp->gap_per_byte_s);
  }
  add(channel.tau_lop.has_value());
  if (channel.tau_lop) {
    add(channel.tau_lop->overhead.points().size());
    for (const SizeTable::Point& point : channel.tau_lop->overhead.points()) add(point.bytes, point.time_s);
    for (const TransferPoint& point : channel.tau_lop->transfer.points()) {
      add(point.bytes, point.concurrency, point.time_s);
    }
  }
  return all;
}

void require_same(const Platform& a, const Platform& b) {
  REQUIRE(a.commit == b.commit);
  REQUIRE(a.mpi == b.mpi);
  REQUIRE(a.nodes == b.nodes);
  REQUIRE(a.channels.size() == b.channels.size());
  for (std::size_t i = 0; i < a.channels.size(); ++i) {
    REQUIRE(a.channels[i].name == b.channels[i].name);
    REQUIRE(a.channels[i].scope == b.channels[i].scope);
    REQUIRE(a.channels[i].path == b.channels[i].path);
    REQUIRE(a.channels[i].between == b.channels[i].between);
    REQUIRE(bits(a.channels[i]) == bits(b.channels[i]));
  }
}

}  // namespace

TEST_CASE("channels are read with their paths and parameters") {
  const Platform platform = read(two_channels());
  REQUIRE(platform.channels.size() == 2);
  const Channel& memory = platform.channel(0);
  CHECK(memory.name == "shared memory");
  CHECK(memory.path == std::vector<int>{0, 0});
  REQUIRE(memory.hockney.size() == 2);
  CHECK(memory.hockney[0].up_to_bytes == 4096.0);
  CHECK(memory.hockney[1].up_to_bytes == infinity);
  CHECK(memory.hockney[1].hockney.bandwidth_bytes_per_s == 1e10);
  CHECK(memory.between.empty());
  const Channel& network = platform.channel(1);
  CHECK(memory.scope == Channel::Scope::node);
  CHECK(network.scope == Channel::Scope::network);
  CHECK(network.path == std::vector<int>{0, 1, 0});
  CHECK(network.between == std::vector<std::string>{"fat", "thin"});
  CHECK(network.hockney[0].hockney.latency_s == 2e-6);
  REQUIRE(network.loggp.has_value());
  CHECK(network.loggp->latency_s == 1e-6);
  CHECK(network.loggp->send_overhead_s == 2e-7);
  CHECK(network.loggp->receive_overhead_s == 3e-7);
  CHECK(network.loggp->gap_s == 4e-7);
  CHECK(network.loggp->gap_per_byte_s == 1e-10);
  REQUIRE(network.tau_lop.has_value());
  CHECK(network.tau_lop->overhead.points() == std::vector<SizeTable::Point>{{0.0, 1e-7}, {4096.0, 3e-7}});
  CHECK(network.tau_lop->overhead.time_s(1e9) == 3e-7);  // constant beyond measured sizes
  REQUIRE(network.tau_lop->transfer.points().size() == 3);
  CHECK(network.tau_lop->transfer.points()[2] == TransferPoint{65536.0, 4, 2 * 65536 * 1e-9});
}

TEST_CASE("a platform is read with what measured it and its nodes") {
  const Platform platform = read(two_channels());
  CHECK_THAT(platform.path, ContainsSubstring("m.platform.json"));
  CHECK(platform.commit == "0123abc");
  CHECK(platform.mpi == "Open MPI 4.1.4");
  CHECK(platform.nodes == std::vector<PlatformNode>{{"a", "fat", 64, 2e11}, {"b", "thin", 8, 0.0}});
  CHECK(platform.memory_bytes_per_s() == 2e11);
}

TEST_CASE("what is written is read back bit for bit, and written again byte for byte") {
  Random random(2);
  const TemporaryFolder folder;
  for (int trial = 0; trial < 300; ++trial) {
    const Platform platform = any_platform(random);
    write_platform_file(folder / "a.platform.json", platform);
    const std::string bytes = folder.read("a.platform.json");
    INFO(bytes);
    const Platform again = read_platform_file(folder / "a.platform.json");
    require_same(platform, again);
    CHECK(again.path == (folder / "a.platform.json").string());
    write_platform_file(folder / "b.platform.json", again);
    REQUIRE(folder.read("b.platform.json") == bytes);
  }
  CHECK(folder.entries() == 2);
}

TEST_CASE("a platform file that was written by hand is the same after writing") {
  const TemporaryFolder folder;
  const Platform platform = read(two_channels());
  write_platform_file(folder / "new" / "m.platform.json", platform);
  require_same(platform, read_platform_file(folder / "new" / "m.platform.json"));
  CHECK(json::parse(folder.read("new/m.platform.json")) == two_channels());
}

TEST_CASE("only id and path are required of a channel") {
  const Platform platform = read({{"schema", "steelyard.platform/1"}, {"channels", {{{"id", 3}, {"path", {3}}}}}});
  const Channel& channel = platform.channel(3);
  CHECK(channel.path == std::vector<int>{3});
  CHECK_THAT(channel.name, ContainsSubstring("3"));
  CHECK(channel.hockney.empty());
  CHECK_THROWS_MATCHES(channel.time_s(8.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("channel 3") && ContainsSubstring("no Hockney")));
}

TEST_CASE("without a scope channel 0 is inside nodes and the others are networks") {
  json value = two_channels();
  value["channels"][0]["scope"] = "device";
  CHECK(read(value).channel(0).scope == Channel::Scope::device);
  for (json& channel : value["channels"]) channel.erase("scope");
  CHECK(read(value).channel(0).scope == Channel::Scope::node);
  CHECK(read(value).channel(1).scope == Channel::Scope::network);
}

TEST_CASE("null is as good as nothing") {
  json value = two_channels();
  for (const char* key : {"commit", "mpi", "nodes"}) value[key] = nullptr;
  for (const char* key : {"name", "scope", "between", "hockney", "loggp", "tau_lop"})
    value["channels"][1][key] = nullptr;
  const Platform platform = read(value);
  CHECK(platform.commit.empty());
  CHECK(platform.nodes.empty());
  const Channel& channel = platform.channel(1);
  CHECK(channel.name == "channel 1");
  CHECK((channel.between.empty() && channel.hockney.empty() && !channel.loggp && !channel.tau_lop));
}

TEST_CASE("members of a node are not required") {
  json value = two_channels();
  value["nodes"] = {json::object(), {{"host", "c"}}};
  CHECK(read(value).nodes == std::vector<PlatformNode>{{"", "", 0}, {"c", "", 0}});
}

TEST_CASE("paths of channels without tau-Lop parameters lead through any channel") {
  json value = two_channels();
  for (const int channel : {0, 1}) value["channels"][channel].erase("tau_lop");
  CHECK(read(value).channel(1).path == std::vector<int>{0, 1, 0});
  value["channels"][0]["tau_lop"] = tau_lop(1e-10);
  CHECK(read(value).channel(0).tau_lop.has_value());
}

TEST_CASE("a platform file that is missing, a folder or not JSON is refused with its name") {
  const TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& path, const std::string& problem) {
    CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string() + ": ") && ContainsSubstring(problem)));
  };
  refused(folder / "none.platform.json", "cannot be opened");
  refused(folder.path(), "is a folder (expected a file)");
  refused(folder.write("empty", ""), "line 1");
  refused(folder.write("words", "{\"schema\":\n nonsense"), "line 2");
  refused(folder.write("nan", "{\"schema\": \"steelyard.platform/1\",\n\n\"channels\": [NaN]}"), "line 3");
  refused(folder.write("large", "{\"channels\": [{\"id\": 1e999}]}"), "too large");
  refused(folder.write("array", "[]"), "expected a JSON object");
}

TEST_CASE("a platform file cut off anywhere is refused") {
  const TemporaryFolder folder;
  const std::string whole_file = two_channels().dump(1);
  for (std::size_t bytes = 0; bytes < whole_file.size(); bytes += 7) {
    const auto path = folder.write("m.platform.json", whole_file.substr(0, bytes));
    REQUIRE_THROWS_MATCHES(
        read_platform_file(path), FileFormatError,
        MessageMatches(ContainsSubstring(path.string() + ": line ") && ContainsSubstring("truncated or mistyped")));
  }
}

TEST_CASE("a platform that could not be read back is not written") {
  const TemporaryFolder folder;
  const auto refused = [&](const auto& change, const std::string& key, const std::string& problem) {
    Platform platform = read(two_channels());
    change(platform);
    const auto path = folder / "m.platform.json";
    CHECK_THROWS_MATCHES(
        write_platform_file(path, platform), InvalidArgument,
        MessageMatches(ContainsSubstring(path.string() + ": " + key + ": ") && ContainsSubstring(problem)));
    CHECK(folder.entries() == 0);
  };
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  refused([](Platform& p) { p.channels[1].id = -1; }, "channels[1].id", "-1");
  refused([](Platform& p) { p.channels[1].id = 0; }, "channels[1].id", "twice");
  refused([](Platform& p) { p.channels[1].path = {8}; }, "channels[1].path", "channel 8");
  refused([](Platform& p) { p.channels[1].path.clear(); }, "channels[1].path", "[]");
  refused([](Platform& p) { p.channels[0].tau_lop.reset(); }, "channels[1].path", "tau_lop");
  refused([](Platform& p) { p.channels[1].between = {"fat"}; }, "channels[1].between", "two nodes");
  refused([](Platform& p) { p.channels[1].hockney[0].up_to_bytes = 9.0; }, "channels[1].hockney.segments", "null");
  refused([](Platform& p) { p.channels[1].hockney[0].up_to_bytes = -infinity; },
          "channels[1].hockney.segments[0].up_to_bytes", "expected a finite number");
  refused([&](Platform& p) { p.channels[1].hockney[0].hockney.latency_s = not_a_number; },
          "channels[1].hockney.segments[0].latency_s", "expected a finite number");
  refused([&](Platform& p) { p.channels[1].loggp->gap_s = infinity; }, "channels[1].loggp.gap_s",
          "expected a finite number");
  refused([](Platform& p) { p.nodes[0].cores = -2; }, "nodes[0].cores", "-2");
}

TEST_CASE("a platform file that cannot be written is named and leaves nothing behind") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "m.platform.json" / "inside");
  CHECK_THROWS_MATCHES(write_platform_file(folder / "m.platform.json", read(two_channels())), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "m.platform.json").string())));
  CHECK(folder.entries() == 2);
}

}  // namespace steelyard::test_platform_file
