#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "models/communication/platform_file.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_calibrate {
namespace {

using models::Channel;
using models::Platform;

/// Ranks of a node need cores of their own.
void require_two_cores() {
  if (std::thread::hardware_concurrency() < 2) SKIP("two ranks need two cores");
}

/// A few sizes, once: for what does not depend on how well is measured.
const Words brief{"--from", "64", "--to", "262144", "--rounds", "1"};

/// Calibrates with two ranks. @return the platform that is written
Platform calibrated(const TemporaryFolder& folder, const std::string& name, const Words& more) {
  const Outcome outcome = good_run(2, steelyard_tool, Words{"calibrate", "--output", name} + more, folder.path());
  INFO(outcome.out << outcome.err);
  return models::read_platform_file(folder / name);
}

std::string text_of(const Channel& channel) {
  Platform platform;
  platform.channels.push_back(channel);
  return models::platform_json(platform).dump();
}

TEST_CASE("A quick calibration takes seconds and writes a platform that steelyard cost accepts") {
  require_two_cores();
  const TemporaryFolder folder;
  Outcome outcome;
  std::chrono::duration<double> took{1e9};
  // Other programs may make one slow, but not one after the other.
  for (int attempt = 0; attempt < 3 && took.count() >= 20.0; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    outcome = run(2, steelyard_tool, {"calibrate", "--quick", "--output", "here.platform.json"}, folder.path());
    took = std::chrono::steady_clock::now() - start;
  }
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.told_by("steelyard").empty());
  CHECK(took.count() < 20.0);
  CHECK(folder.entries() == 1);
  for (const char* part : {"node       ", "messages   8 B to 4 MiB, 3 rounds", "channel 0  shared memory, path [0, 0]",
                           "protocol   eager up to ", "Hockney    ", "LogGP      ", "L(m,2)", "took       ",
                           "platform   here.platform.json"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }

  const Platform platform = models::read_platform_file(folder / "here.platform.json");
  CHECK_FALSE(platform.commit.empty());
  CHECK_FALSE(platform.mpi.empty());
  REQUIRE(platform.nodes.size() == 1);
  REQUIRE(platform.channels.size() == 1);
  const Channel& channel = platform.channels.front();
  CHECK(channel.id == 0);
  CHECK(channel.scope == Channel::Scope::node);
  CHECK(channel.path == std::vector<int>{0, 0});
  CHECK(channel.between == std::vector<std::string>(2, platform.nodes.front().kind));
  CHECK(channel.loggp);
  CHECK_FALSE(channel.hockney.empty());
  REQUIRE(channel.tau_lop);
  CHECK(channel.tau_lop->transfer.largest_concurrency() == 2);
  CHECK(channel.tau_lop->overhead.points().front().bytes == 8.0);
  CHECK(channel.tau_lop->overhead.points().back().bytes == 4194304.0);

  const Outcome cost =
      good_run(1, steelyard_tool,
               {"cost", "--platform", "here.platform.json", "--expression", "T0(8)||T0(100000)", "--format", "json"},
               folder.path());
  INFO(cost.out << cost.err);
  const auto json = nlohmann::json::parse(cost.out);
  CHECK(json.at("reduced") == "2||T0(8)+T0(99992)");
  CHECK(json.at("time_s") > 0.0);
  CHECK(json.at("time_s") < 1.0);
}

/// Copies to and from a device, of pinned and of pageable memory.
constexpr int device_channels = STEELYARD_HAS_DEVICE ? 4 : 0;

TEST_CASE("Sizes are those that were asked for, and without --output there is no file") {
  require_two_cores();
  const TemporaryFolder folder;
  const Outcome outcome =
      good_run(2, steelyard_tool, {"calibrate", "--from", "100", "--to", "262143", "--rounds", "1"}, folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(folder.entries() == 0);
  for (const std::string size : {"100 ", "128 ", "131072 ", "262143 "}) {
    const std::vector<std::string> lines = lines_of(outcome.out);
    CAPTURE(size);
    CHECK(std::count_if(lines.begin(), lines.end(),
                        [&](const std::string& line) { return line.rfind(size, 0) == 0; }) == 1 + device_channels);
  }
  CHECK_FALSE(contains(outcome.out, "\n64 "));
  CHECK_FALSE(contains(outcome.out, "\n262144 "));
}

TEST_CASE("A base's other channels are kept as they are, its channel of the same kind is measured again") {
  require_two_cores();
  const TemporaryFolder folder;
  const Platform first = calibrated(folder, "first.platform.json", brief);
  REQUIRE(first.channels.size() == std::size_t{1 + device_channels});
  Platform base = first;
  base.channels.resize(1);
  Channel network = first.channels.front();
  network.id = 1;
  network.name = "network";
  network.scope = Channel::Scope::network;
  network.path = {0, 1, 0};
  base.channels.push_back(network);
  Channel copies;
  copies.id = 2;
  copies.name = "a device elsewhere";
  copies.scope = Channel::Scope::device;
  copies.path = {2};
  copies.hockney = first.channels.front().hockney;
  base.channels.push_back(copies);
  base.nodes.clear();
  models::write_platform_file(folder / "base.platform.json", base);

  const Platform second = calibrated(folder, "second.platform.json", brief + Words{"--base", "base.platform.json"});
  REQUIRE(second.channels.size() >= base.channels.size());
  CHECK(text_of(second.channel(1)) == text_of(base.channel(1)));
  CHECK(text_of(second.channel(2)) == text_of(base.channel(2)));
  CHECK(second.channel(0).name == first.channel(0).name);
  CHECK(second.channel(0).between == first.channel(0).between);
  CHECK(text_of(second.channel(0)) != text_of(base.channel(0)));
  REQUIRE(second.nodes.size() == first.nodes.size());
  for (std::size_t node = 0; node < first.nodes.size(); ++node) {
    CHECK(second.nodes[node].host == first.nodes[node].host);
    CHECK(second.nodes[node].kind == first.nodes[node].kind);
    CHECK(second.nodes[node].cores == first.nodes[node].cores);
    // Of any machine, however busy it is.
    CHECK(second.nodes[node].memory_bytes_per_s > 1e8);
    CHECK(second.nodes[node].memory_bytes_per_s < 1e13);
  }
  // The base itself may be written to.
  CHECK(calibrated(folder, "second.platform.json", brief + Words{"--base", "second.platform.json"}).channels.size() ==
        second.channels.size());
}

TEST_CASE("A platform that cannot be written is found before anything is measured") {
  require_two_cores();
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  std::filesystem::create_directories(folder / "folder");
  for (const std::string& output : {file + "/below", (folder / "folder").string()}) {
    const Outcome outcome = run(2, steelyard_tool, Words{"calibrate", "--output", output} + brief, folder.path());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 3);
    REQUIRE(outcome.told_by("steelyard").size() == 1);
    CHECK(contains(outcome.told_by("steelyard").front(), output));
    CHECK(outcome.out.empty());
    CHECK(folder.entries() == 2);
  }
}

TEST_CASE("Times from which no bandwidth follows fail the run, with the channel and what helps") {
  require_two_cores();
  const TemporaryFolder folder;
  // One more byte of a MiB is far below what can be measured.
  Outcome outcome;
  for (int attempt = 0; attempt < 10 && outcome.status != 3; ++attempt) {
    outcome =
        run(2, steelyard_tool,
            {"calibrate", "--from", "1048576", "--to", "1048577", "--rounds", "1", "--output", "here"}, folder.path());
  }
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  REQUIRE(outcome.told_by("steelyard").size() == 1);
  for (const char* part : {"shared memory", "do not grow with size", "--to", "--rounds"}) {
    CHECK(contains(outcome.told_by("steelyard").front(), part));
  }
}

TEST_CASE("Calibrations that cannot be made are refused by name") {
  const TemporaryFolder folder;
  const std::string broken = folder.write("broken", "{\n");
  const std::string other = folder.write("other", R"({"schema": "steelyard.fpm/1", "channels": []})");
  const auto calibrate = [](const Words& more) { return Words{"calibrate"} + more; };
  const Words output{"--output", "out"};
  // A single rank has nobody to talk to.
  expect_refused(steelyard_tool,
                 {{calibrate({"--quick"}), "nothing to measure: there is one rank (expected at least two)"},
                  {calibrate({"--concurrency", "64"}), "one rank"},
                  {calibrate({"--concurrency", "1"}), "--concurrency"},
                  {calibrate({"--from", "8", "--to", "8"}), "8 to 8"},
                  {calibrate({"--from", "64", "--to", "8"}), "64 to 8"},
                  {calibrate({"--from", "0"}), "--from"},
                  {calibrate({"--to", "-1"}), "--to"},
                  {calibrate({"--to", "2147483648"}), "2147483648"},
                  {calibrate({"--rounds", "0"}), "--rounds"},
                  {calibrate({"--quick", "--rounds", "2"}), "--rounds"},
                  {calibrate({"--everything"}), "--everything"}},
                 output, {1});
  if (std::thread::hardware_concurrency() < 2) return;
  expect_refused(steelyard_tool,
                 {{calibrate({"--concurrency", "64"}), "concurrency 64 in shared memory (expected at most 2: "},
                  {calibrate({"--base", folder / "missing"}), "missing"},
                  {calibrate({"--base", broken}), "broken: line 2"},
                  {calibrate({"--base", other}), "steelyard.platform/1"}},
                 output, {2});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_calibrate
