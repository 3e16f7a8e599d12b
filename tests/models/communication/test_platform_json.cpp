#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/platform_file.hpp"
#include "tests/models/two_channels.hpp"

namespace steelyard::test_platform_json {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using nlohmann::json;
using namespace steelyard::models;
using tests::two_channels;

namespace {

const json removed(json::value_t::discarded);

/// Something wrong in the file of two channels.
struct Mistake {
  std::string pointer;   // where
  json value;            // what is put there; discarded: removed
  std::string key;       // that the error names
  std::string expected;  // what it says
};

void require_refused(const Mistake& mistake) {
  json value = two_channels();
  const json::json_pointer place(mistake.pointer);
  if (mistake.value.is_discarded()) {
    value[place.parent_pointer()].erase(place.back());
  } else {
    value[place] = mistake.value;
  }
  INFO(mistake.pointer << ": " << value.dump());
  CHECK_THROWS_MATCHES(
      platform_from_json("m.platform.json", value), FileFormatError,
      MessageMatches(StartsWith("m.platform.json: " + mistake.key + ": ") && ContainsSubstring(mistake.expected)));
}

}  // namespace

TEST_CASE("a platform file with a mistake is refused with file, key and expectation") {
  const std::string channel = "/channels/1", key = "channels[1]";
  for (const Mistake& mistake : std::vector<Mistake>{
           {"/schema", removed, "schema", "missing"},
           {"/schema", 1, "schema", "expected a string"},
           {"/schema", "steelyard.fpm/1", "schema", "expected \"steelyard.platform/1\""},
           {"/commit", 7, "commit", "expected a string"},
           {"/mpi", {"Open MPI"}, "mpi", "expected a string"},
           {"/channels", removed, "channels", "missing"},
           {"/channels", "none", "channels", "expected an array"},
           {channel, 5, key, "expected a JSON object"},
           {channel + "/id", removed, key + ".id", "missing"},
           {channel + "/id", "1", key + ".id", "expected a finite number"},
           {channel + "/id", -1, key + ".id", "is -1 (expected 0, 1, …)"},
           {channel + "/id", 0.5, key + ".id", "is 0.5 (expected 0, 1, …)"},
           {channel + "/id", 1e300, key + ".id", "expected 0, 1, …"},
           {channel + "/id", 0, key + ".id", "0 is there twice (expected every channel once)"},
           {channel + "/name", 1, key + ".name", "expected a string"},
           {channel + "/scope", 1, key + ".scope", "expected a string"},
           {channel + "/scope", "inside", key + ".scope", "is \"inside\" (expected one of node, network, device)"},
           {channel + "/path", removed, key + ".path", "missing (expected channel ids"},
           {channel + "/path", nullptr, key + ".path", "missing (expected channel ids"},
           {channel + "/path", json::array(), key + ".path", "is [] (expected channel ids"},
           {channel + "/path", 1, key + ".path", "is 1 (expected channel ids"},
           {channel + "/path", {0, "1"}, key + ".path", "is [0,\"1\"] (expected channel ids"},
           {channel + "/path", {0, -1}, key + ".path", "expected channel ids"},
           {channel + "/path", {0.5}, key + ".path", "expected channel ids"},
           {channel + "/path", {4294967296}, key + ".path", "expected channel ids"},
           {channel + "/path", {0, 7, 0}, key + ".path", "channel 7, which is not in the file (expected some of 0, 1)"},
           {channel + "/id", 2, key + ".path", "channel 1, which is not in the file (expected some of 0, 2)"},
           {channel + "/between", "fat", key + ".between", "is \"fat\" (expected the kinds of two nodes)"},
           {channel + "/between", json::array(), key + ".between", "expected the kinds of two nodes"},
           {channel + "/between", {"a", "b", "c"}, key + ".between", "expected the kinds of two nodes"},
           {channel + "/between", {"a", 1}, key + ".between", "expected the kinds of two nodes"},
           {"/nodes", "a", "nodes", "expected an array"},
           {"/nodes/1", "b", "nodes[1]", "expected a JSON object"},
           {"/nodes/1/host", 1, "nodes[1].host", "expected a string"},
           {"/nodes/1/kind", json::object(), "nodes[1].kind", "expected a string"},
           {"/nodes/1/cores", "8", "nodes[1].cores", "expected a finite number"},
           {"/nodes/1/cores", -8, "nodes[1].cores", "is -8 (expected 0, 1, …)"},
           {"/nodes/1/cores", 1.5, "nodes[1].cores", "is 1.5 (expected 0, 1, …)"},
           {"/nodes/1/memory_bytes_per_s", -1, "nodes[1].memory_bytes_per_s", "is -1"}}) {
    require_refused(mistake);
  }
}

TEST_CASE("Hockney parameters with a mistake are refused") {
  const std::string segments = "/channels/0/hockney/segments", key = "channels[0].hockney.segments";
  for (const Mistake& mistake : std::vector<Mistake>{
           {"/channels/0/hockney", json::array(), "channels[0].hockney", "expected a JSON object"},
           {segments, removed, key, "missing"},
           {segments, json::object(), key, "expected an array"},
           {segments, json::array(), key, "null"},
           {segments + "/1/up_to_bytes", 8192, key, "null"},
           {segments + "/1/up_to_bytes", 4096, key + "[1].up_to_bytes", "is 4096 after 4096 (expected growing sizes"},
           {segments + "/1/up_to_bytes", 100, key + "[1].up_to_bytes", "is 100 after 4096 (expected growing sizes"},
           {segments + "/0/up_to_bytes", 0, key + "[0].up_to_bytes", "expected growing sizes > 0"},
           {segments + "/0/up_to_bytes", nullptr, key + "[1].up_to_bytes", "null in the last"},
           {segments + "/0/up_to_bytes", "all", key + "[0].up_to_bytes", "expected a finite number"},
           {segments + "/0/latency_s", removed, key + "[0].latency_s", "missing"},
           {segments + "/0/latency_s", "NaN", key + "[0].latency_s", "is \"NaN\" (expected a finite number)"},
           {segments + "/0/latency_s", -1e-9, key + "[0].latency_s", "is -1e-09 (expected a number >= 0)"},
           {segments + "/0/bandwidth_bytes_per_s", removed, key + "[0].bandwidth_bytes_per_s", "missing"},
           {segments + "/0/bandwidth_bytes_per_s", 0.0, key + "[0].bandwidth_bytes_per_s", "expected a number > 0"},
           {segments + "/0/bandwidth_bytes_per_s", -1.0, key + "[0].bandwidth_bytes_per_s", "expected a number > 0"},
           {segments + "/0/bandwidth_bytes_per_s", nullptr, key + "[0].bandwidth_bytes_per_s",
            "expected a finite number"},
           {segments + "/0/bandwidth_bytes_per_s", "Infinity", key + "[0].bandwidth_bytes_per_s",
            "expected a finite number"}}) {
    require_refused(mistake);
  }
}

TEST_CASE("LogGP parameters with a mistake are refused") {
  const std::string loggp = "/channels/0/loggp", key = "channels[0].loggp";
  require_refused({loggp, "anything", key, "expected a JSON object"});
  for (const std::string name : {"latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "gap_per_byte_s"}) {
    require_refused({loggp + "/" + name, removed, key + "." + name, "missing"});
    require_refused({loggp + "/" + name, nullptr, key + "." + name, "expected a finite number"});
    require_refused({loggp + "/" + name, "nan", key + "." + name, "expected a finite number"});
    require_refused({loggp + "/" + name, -1e-12, key + "." + name, "is -1e-12 (expected a number >= 0)"});
  }
}

TEST_CASE("tau-Lop parameters with a mistake are refused") {
  const std::string tables = "/channels/0/tau_lop", key = "channels[0].tau_lop";
  const std::string overhead = tables + "/overhead", transfer = tables + "/transfer";
  for (const Mistake& mistake : std::vector<Mistake>{
           {tables, json::array(), key, "expected a JSON object"},
           {overhead, removed, key + ".overhead", "missing"},
           {overhead, 1e-7, key + ".overhead", "expected an array"},
           {overhead, json::array(), key + ".overhead", "no measured message size (expected at least one)"},
           {overhead + "/1", 1e-7, key + ".overhead[1]", "expected a JSON object"},
           {overhead + "/1/bytes", removed, key + ".overhead[1].bytes", "missing"},
           {overhead + "/1/bytes", "1k", key + ".overhead[1].bytes", "expected a finite number"},
           {overhead + "/1/bytes", -1, key + ".overhead[1].bytes", "is -1 (expected a number >= 0)"},
           {overhead + "/1/time_s", removed, key + ".overhead[1].time_s", "missing"},
           {overhead + "/1/time_s", "NaN", key + ".overhead[1].time_s", "expected a finite number"},
           {overhead + "/1/time_s", -1e-7, key + ".overhead[1].time_s", "expected a number >= 0"},
           {overhead + "/0/bytes", 5000, key + ".overhead", "4096 bytes after one for 5000 bytes (expected growing"},
           {overhead + "/0/bytes", 4096, key + ".overhead", "4096 bytes after one for 4096 bytes (expected growing"},
           {transfer, removed, key + ".transfer", "missing"},
           {transfer, "fast", key + ".transfer", "expected an array"},
           {transfer, json::array(), key + ".transfer", "no transfer times for concurrency 1"},
           {transfer + "/2", nullptr, key + ".transfer[2]", "expected a JSON object"},
           {transfer + "/2/bytes", removed, key + ".transfer[2].bytes", "missing"},
           {transfer + "/2/bytes", -8, key + ".transfer[2].bytes", "is -8 (expected a number >= 0)"},
           {transfer + "/2/bytes", 0, key + ".transfer", "0 bytes in"},
           {transfer + "/2/time_s", removed, key + ".transfer[2].time_s", "missing"},
           {transfer + "/2/time_s", "inf", key + ".transfer[2].time_s", "expected a finite number"},
           {transfer + "/2/time_s", -1, key + ".transfer[2].time_s", "expected a number >= 0"},
           {transfer + "/2/concurrency", removed, key + ".transfer[2].concurrency", "missing"},
           {transfer + "/2/concurrency", "4", key + ".transfer[2].concurrency", "expected a finite number"},
           {transfer + "/2/concurrency", 0, key + ".transfer[2].concurrency", "is 0 (expected 1, 2, …)"},
           {transfer + "/2/concurrency", -4, key + ".transfer[2].concurrency", "is -4 (expected 1, 2, …)"},
           {transfer + "/2/concurrency", 1.5, key + ".transfer[2].concurrency", "is 1.5 (expected 1, 2, …)"},
           {transfer + "/2/concurrency", 4294967297, key + ".transfer[2].concurrency", "expected 1, 2, …"},
           {transfer + "/2/concurrency", 1, key + ".transfer", "two transfer times for 65536 bytes and concurrency 1"},
           {transfer,
            {{{"bytes", 8}, {"concurrency", 2}, {"time_s", 1e-6}}},
            key + ".transfer",
            "no transfer times for concurrency 1 (expected some)"},
           {tables, removed, "channels[1].path", "channel 0, which has no \"tau_lop\" (expected it on all channels"}}) {
    require_refused(mistake);
  }
}

TEST_CASE("the JSON of a platform holds what its file held") {
  CHECK(json(platform_json(platform_from_json("m.platform.json", two_channels()))) == two_channels());
}

}  // namespace steelyard::test_platform_json
