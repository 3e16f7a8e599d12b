#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/errors.hpp"
#include "models/communication/platform_file.hpp"
#include "tests/base/temporary_folder.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using nlohmann::json;
using namespace steelyard;
using namespace steelyard::models;
using tests::TemporaryFolder;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

json segment(const json& up_to_bytes, double latency_s, double bandwidth) {
  return {{"up_to_bytes", up_to_bytes}, {"latency_s", latency_s}, {"bandwidth_bytes_per_s", bandwidth}};
}

/// Shared memory in two segments and a network.
json two_channels() {
  return {{"schema", "steelyard.platform/1"},
          {"channels",
           {{{"id", 0},
             {"name", "shared memory"},
             {"path", {0, 0}},
             {"hockney", {{"segments", {segment(4096, 1e-7, 5e9), segment(nullptr, 1e-6, 1e10)}}}}},
            {{"id", 1},
             {"name", "network"},
             {"path", {0, 1, 0}},
             {"hockney", {{"segments", {segment(nullptr, 2e-6, 1e9)}}}}}}},
          {"nodes", json::array()}};
}

Platform read(const json& value) {
  const TemporaryFolder folder;
  return read_platform_file(folder.write("m.platform.json", value.dump()));
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
  CHECK(platform.channel(1).path == std::vector<int>{0, 1, 0});
  CHECK(platform.channel(1).hockney[0].hockney.latency_s == 2e-6);
}

TEST_CASE("parameters are read bit for bit") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-200.0, 200.0);
  for (int trial = 0; trial < 50; ++trial) {
    const double latency_s = std::exp(exponent(random)), bandwidth = std::exp(exponent(random));
    const double split = std::exp(exponent(random));
    json value = two_channels();
    value["channels"][0]["hockney"]["segments"] = {segment(split, latency_s, bandwidth), segment(nullptr, 0.0, 1.0)};
    const Channel channel = read(value).channel(0);
    REQUIRE(channel.hockney[0].up_to_bytes == split);
    REQUIRE(channel.hockney[0].hockney.latency_s == latency_s);
    REQUIRE(channel.hockney[0].hockney.bandwidth_bytes_per_s == bandwidth);
  }
}

TEST_CASE("a message takes the time of the segment that holds its size") {
  const Channel channel = read(two_channels()).channel(0);
  for (const double bytes : {0.0, 1.0, 4095.0, 4096.0}) {
    CHECK(channel.time_s(bytes) == channel.hockney[0].hockney.time_s(bytes));
  }
  for (const double bytes : {4096.5, 4097.0, 1e12}) {
    CHECK(channel.time_s(bytes) == channel.hockney[1].hockney.time_s(bytes));
  }
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

TEST_CASE("parameters of models that are not in use are left alone") {
  json value = two_channels();
  value["channels"][1]["tau_lop"] = {{"overhead", json::array()}};
  value["channels"][1]["loggp"] = "anything";
  value["nodes"] = {1, 2, 3};
  CHECK(read(value).channels.size() == 2);
}

TEST_CASE("a channel that is not there is refused with the ids that are") {
  const Platform platform = read(two_channels());
  CHECK_THROWS_MATCHES(platform.channel(7), InvalidArgument,
                       MessageMatches(ContainsSubstring("7") && ContainsSubstring("0, 1")));
  CHECK_THROWS_AS(Platform{}.channel(0), InvalidArgument);
}

TEST_CASE("a negative size is refused on every channel") {
  const Platform platform = read(two_channels());
  CHECK_THROWS_AS(platform.channel(0).time_s(-1.0), InvalidArgument);
  CHECK_THROWS_AS(platform.channel(1).time_s(-infinity), InvalidArgument);
  CHECK_THROWS_AS(platform.channel(0).time_s(std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

TEST_CASE("a platform file with a mistake is refused with file and key") {
  struct Mistake {
    std::string pointer;  // where in the file of two channels
    json value;           // what is put there; discarded: removed
    std::string key;
  };
  const json removed(json::value_t::discarded);
  const std::string segments = "/channels/0/hockney/segments";
  const std::string key = "channels[0].hockney.segments";
  const auto mistake = GENERATE_COPY(
      Mistake{"/schema", removed, "schema"}, Mistake{"/schema", "steelyard.fpm/1", "schema"},
      Mistake{"/channels", removed, "channels"}, Mistake{"/channels", "none", "channels"},
      Mistake{"/channels/1", 5, "channels[1]"}, Mistake{"/channels/1/id", removed, "channels[1].id"},
      Mistake{"/channels/1/id", "1", "channels[1].id"}, Mistake{"/channels/1/id", -1, "channels[1].id"},
      Mistake{"/channels/1/id", 0.5, "channels[1].id"}, Mistake{"/channels/1/id", 1e300, "channels[1].id"},
      Mistake{"/channels/1/id", 0, "channels[1].id"}, Mistake{"/channels/1/name", 1, "channels[1].name"},
      Mistake{"/channels/1/path", removed, "channels[1].path"},
      Mistake{"/channels/1/path", json::array(), "channels[1].path"},
      Mistake{"/channels/1/path", 1, "channels[1].path"}, Mistake{"/channels/1/path", {0, "1"}, "channels[1].path"},
      Mistake{"/channels/1/path", {0, -1}, "channels[1].path"}, Mistake{"/channels/1/path", {0.5}, "channels[1].path"},
      Mistake{"/channels/1/path", {4294967296}, "channels[1].path"},
      Mistake{"/channels/0/hockney", json::array(), "channels[0].hockney"}, Mistake{segments, removed, key},
      Mistake{segments, json::array(), key}, Mistake{segments + "/1/up_to_bytes", 8192, key},
      Mistake{segments + "/1/up_to_bytes", 4096, key + "[1].up_to_bytes"},
      Mistake{segments + "/1/up_to_bytes", 100, key + "[1].up_to_bytes"},
      Mistake{segments + "/0/up_to_bytes", 0, key + "[0].up_to_bytes"},
      Mistake{segments + "/0/up_to_bytes", nullptr, key + "[1].up_to_bytes"},
      Mistake{segments + "/0/up_to_bytes", "all", key + "[0].up_to_bytes"},
      Mistake{segments + "/0/latency_s", removed, key + "[0].latency_s"},
      Mistake{segments + "/0/latency_s", -1e-9, key + "[0].latency_s"},
      Mistake{segments + "/0/bandwidth_bytes_per_s", removed, key + "[0].bandwidth_bytes_per_s"},
      Mistake{segments + "/0/bandwidth_bytes_per_s", 0.0, key + "[0].bandwidth_bytes_per_s"},
      Mistake{segments + "/0/bandwidth_bytes_per_s", nullptr, key + "[0].bandwidth_bytes_per_s"});
  json value = two_channels();
  const json::json_pointer place(mistake.pointer);
  if (mistake.value.is_discarded()) {
    value[place.parent_pointer()].erase(place.back());
  } else {
    value[place] = mistake.value;
  }
  INFO(value.dump());
  const TemporaryFolder folder;
  const auto path = folder.write("m.platform.json", value.dump());
  CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string() + ": " + mistake.key + ": ")));
}

TEST_CASE("a platform file that is missing or not JSON is refused with its name") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_platform_file(folder / "none.platform.json"), FileFormatError,
                       MessageMatches(ContainsSubstring((folder / "none.platform.json").string())));
  const auto path = folder.write("m.platform.json", "{\"schema\":\n nonsense");
  CHECK_THROWS_MATCHES(read_platform_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string()) && ContainsSubstring("line 2")));
}
