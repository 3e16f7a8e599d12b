#include <functional>
#include <nlohmann/json.hpp>

#include "models/communication/platform.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_platform_file {

using nlohmann::json;
using namespace steelyard::models;
using tests::Random;
using tests::TemporaryFolder;
using tests::uniform;
using tests::whole;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
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

TEST_CASE("a platform file that was written by hand is read as it says and the same after writing") {
  const TemporaryFolder folder;
  const Platform platform = read(two_channels());
  write_platform_file(folder / "new" / "m.platform.json", platform);
  CHECK(json::parse(folder.read("new/m.platform.json")) == two_channels());
  CHECK(platform.memory_bytes_per_s() == 2e11);
  CHECK(platform.error() == 0.125);
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
  std::reverse(platform.channels.begin(), platform.channels.end());
  const Channel& channel = platform.channel(0);
  CHECK(channel.name == "shared memory");
  for (const double bytes : {0.0, 4096.0, 4096.5, 1e12}) {
    CHECK(channel.time_s(bytes) == channel.hockney[bytes <= 4096.0 ? 0 : 1].hockney.time_s(bytes));
  }
  platform.nodes.push_back({"c", "fat", 1, 1e11});
  CHECK(platform.memory_bytes_per_s() == 1e11);
  platform.channels[1].error = 0.2;
  platform.channels[0].error = 0.1;
  CHECK(platform.error() == 0.2);
  CHECK(Platform{}.memory_bytes_per_s() == 0.0);
  const auto refused = [](const std::function<void()>& call, const std::string& what) {
    CHECK_THROWS_MATCHES(call(), InvalidArgument, MessageMatches(ContainsSubstring(what)));
  };
  platform.path = "lab.platform.json";
  refused([&] { platform.channel(7); }, "lab.platform.json: has no channel 7 (expected one of 1, 0)");
  refused([] { Platform{}.channel(0); }, "platform: has no channel 0 (it has none)");
  platform.channels[0].hockney.clear();
  refused([&] { platform.channel(1).time_s(8.0); }, "channel 1 (network) has no Hockney");
}

TEST_CASE("a platform file with a mistake is refused with file, key and expectation") {
  const std::string channel = "/channels/1", key = "channels[1]";
  const std::string segments = "/channels/0/hockney/segments", hockney = "channels[0].hockney.segments";
  const std::string tables = "/channels/0/tau_lop", tau_lop = "channels[0].tau_lop";
  const std::string overhead = tables + "/overhead", transfer = tables + "/transfer";
  /// Something wrong in the file of two channels.
  struct Mistake {
    std::string pointer;   // where
    json value;            // what is put there; discarded: removed
    std::string key;       // that the error names
    std::string expected;  // what it says
  };
  std::vector<Mistake> mistakes{
      {"/schema", removed, "schema", "missing"},
      {"/schema", "steelyard.fpm/1", "schema", "expected \"steelyard.platform/1\""},
      {"/channels", removed, "channels", "missing"},
      {"/channels", "none", "channels", "expected an array"},
      {channel, 5, key, "expected a JSON object"},
      {channel + "/id", removed, key + ".id", "missing"},
      {channel + "/id", 0.5, key + ".id", "is 0.5 (expected 0, 1, …)"},
      {channel + "/id", 1e300, key + ".id", "expected 0, 1, …"},
      {channel + "/id", 0, key + ".id", "0 is there twice (expected every channel once)"},
      {channel + "/scope", "inside", key + ".scope", "is \"inside\" (expected one of node, network, device)"},
      {channel + "/path", removed, key + ".path", "missing (expected channel ids"},
      {channel + "/path", json::array(), key + ".path", "is [] (expected channel ids"},
      {channel + "/path", 1, key + ".path", "is 1 (expected channel ids"},
      {channel + "/path", {0.5}, key + ".path", "expected channel ids"},
      {channel + "/path", {4294967296}, key + ".path", "expected channel ids"},
      {channel + "/path", {0, 7, 0}, key + ".path", "channel 7, which is not in the file (expected some of 0, 1)"},
      {channel + "/id", 2, key + ".path", "channel 1, which is not in the file (expected some of 0, 2)"},
      {channel + "/between", "fat", key + ".between", "is \"fat\" (expected the kinds of two nodes)"},
      {channel + "/between", {"a"}, key + ".between", "expected the kinds of two nodes"},
      {channel + "/between", {"a", "b", "c"}, key + ".between", "expected the kinds of two nodes"},
      {channel + "/error", -0.1, key + ".error", "is -0.1 (expected a number >= 0)"},
      {"/nodes/1/cores", 1.5, "nodes[1].cores", "is 1.5 (expected 0, 1, …)"},
      {segments, removed, hockney, "missing"},
      {segments, json::array(), hockney, "null"},
      {segments + "/1/up_to_bytes", 8192, hockney, "null"},
      {segments + "/1/up_to_bytes", 4096, hockney + "[1].up_to_bytes", "is 4096 after 4096 (expected growing sizes"},
      {segments + "/0/up_to_bytes", 0, hockney + "[0].up_to_bytes", "expected growing sizes > 0"},
      {segments + "/0/up_to_bytes", nullptr, hockney + "[1].up_to_bytes", "null in the last"},
      {segments + "/0/bandwidth_bytes_per_s", 0.0, hockney + "[0].bandwidth_bytes_per_s", "expected a number > 0"},
      {overhead, removed, tau_lop + ".overhead", "missing"},
      {overhead, json::array(), tau_lop + ".overhead", "no measured message size (expected at least one)"},
      {overhead + "/0/bytes", 4096, tau_lop + ".overhead", "4096 bytes after one for 4096 bytes (expected growing"},
      {transfer, removed, tau_lop + ".transfer", "missing"},
      {transfer, json::array(), tau_lop + ".transfer", "no transfer times for concurrency 1"},
      {transfer + "/2/bytes", 0, tau_lop + ".transfer", "0 bytes in"},
      {transfer + "/2/concurrency", 0, tau_lop + ".transfer[2].concurrency", "is 0 (expected 1, 2, …)"},
      {transfer + "/2/concurrency", 4294967297, tau_lop + ".transfer[2].concurrency", "expected 1, 2, …"},
      {transfer + "/2/concurrency", 1, tau_lop + ".transfer", "two transfer times for 65536 bytes and concurrency 1"},
      {tables, removed, "channels[1].path", "channel 0, which has no \"tau_lop\" (expected it on all channels"}};
  // Nothing is a truth value and no number is negative.
  const json leaves = two_channels().flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    mistakes.push_back({pointer, true, "", "expected"});
    if (value.is_number()) mistakes.push_back({pointer, -1, "", "-1"});
  }
  for (const std::string name : {"latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "gap_per_byte_s"}) {
    mistakes.push_back({"/channels/0/loggp/" + name, removed, "channels[0].loggp." + name, "missing"});
  }
  const TemporaryFolder folder;
  for (const Mistake& mistake : mistakes) {
    json value = two_channels();
    const json::json_pointer place(mistake.pointer);
    if (mistake.value.is_discarded()) {
      value[place.parent_pointer()].erase(place.back());
    } else {
      value[place] = mistake.value;
    }
    INFO(mistake.pointer << ": " << value.dump());
    const auto path = folder.write("m.platform.json", value.dump());
    const std::string start = path.string() + ": " + (mistake.key.empty() ? "" : mistake.key + ": ");
    CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                         MessageMatches(StartsWith(start) && ContainsSubstring(mistake.expected)));
  }
}

TEST_CASE("a platform file that is missing, a folder, not JSON or cut off anywhere is refused with its name") {
  const TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& path, const std::string& problem) {
    CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string() + ": ") && ContainsSubstring(problem)));
  };
  refused(folder / "none.platform.json", "cannot be opened");
  refused(folder.path(), "is a folder (expected a file)");
  refused(folder.write("large", "{\"channels\": [{\"id\": 1e999}]}"), "too large");
  refused(folder.write("array", "[]"), "expected a JSON object");
  const std::string whole_file = two_channels().dump(1);
  for (std::size_t bytes = 0; bytes < whole_file.size(); bytes += 7) {
    refused(folder.write("m.platform.json", whole_file.substr(0, bytes)), "truncated or mistyped");
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
  refused([](Platform& p) { p.channels[1].id = 0; }, "channels[1].id", "twice");
  refused([](Platform& p) { p.channels[1].path.clear(); }, "channels[1].path", "[]");
  refused([](Platform& p) { p.channels[0].tau_lop.reset(); }, "channels[1].path", "tau_lop");
  refused([](Platform& p) { p.channels[1].hockney[0].up_to_bytes = -infinity; },
          "channels[1].hockney.segments[0].up_to_bytes", "expected a finite number");
  refused([](Platform& p) { p.channels[1].loggp->gap_s = not_a_number; }, "channels[1].loggp.gap_s",
          "expected a finite number");
  refused([](Platform& p) { p.nodes[0].cores = -2; }, "nodes[0].cores", "-2");
}

}  // namespace steelyard::test_platform_file
