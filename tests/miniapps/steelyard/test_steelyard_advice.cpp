// How sure predictions are, and which of the ways to run an app they advise.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <filesystem>
#include <vector>

#include "core/base/table.hpp"
#include "models/estimate.hpp"
#include "models/fpm_file.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace steelyard::tests::test_steelyard_predict {
namespace {

/// Of a unit that was measured on these cores.
std::string write_unit_model(const TemporaryFolder& folder, const std::string& name, const std::string& kind,
                             const std::string& cores, double unit_s, int time_tile = 0) {
  models::FpmFile file;
  file.unit_kind = kind;
  file.unit_cores = cores;
  if (time_tile > 0) file.parameters["time_tile"] = time_tile;
  for (const double units : {1.0, 1000.0}) file.points.push_back({units, units * unit_s});
  std::filesystem::create_directories((folder.path() / name).parent_path());
  models::write_fpm_file(folder.path() / name, file);
  return folder.path() / name;
}

TEST_CASE("Intervals contain the prediction, are as wide as the models' drift and the channels' error, or a point") {
  const TemporaryFolder folder;
  models::FpmFile file;
  for (const double units : {1.0, 1000.0}) file.points.push_back({units, units * 1e-3});
  models::write_fpm_file(folder / "sure.fpm.json", file);
  file.drift = {0.02, 1000};
  models::write_fpm_file(folder / "drifting.fpm.json", file);
  const Words one{"--m", "640", "--block", "16"};
  const auto interval = [](const json& prediction) {
    return prediction.at("predicted_interval_s").get<std::vector<double>>();
  };
  const json sure = predicted(folder, one + Words{"--model", folder / "sure.fpm.json"}, "gemm");
  CHECK(interval(sure) == std::vector<double>(2, sure.at("time_s")));
  const Words arguments = one + Words{"--model", folder / "drifting.fpm.json"};
  const json drifting = predicted(folder, arguments, "gemm");
  const double half_width = std::hypot(1.646 * std::sqrt(2.0) * 0.02, 1.645 * models::later_drift);
  CHECK_THAT(interval(drifting)[1], WithinRel(40e-3 * (1.0 + half_width), 1e-4));
  CHECK_THAT(interval(drifting)[0] * interval(drifting)[1], WithinRel(40e-3 * 40e-3, 1e-12));
  const std::string table = good_run(1, steelyard_tool, Words{"predict", "gemm"} + arguments, folder.path()).out;
  CHECK(contains(table, "total      40.0 ms (" + format_seconds(interval(drifting)[0]) + " to "));
  const json scaling =
      predicted(folder, arguments + Words{"--processes", "4", "--scaling", "strong"}, "gemm").at("runs");
  for (const json& run : scaling) {
    CHECK_THAT(interval(run)[1] / run.at("time_s").get<double>(),
               WithinRel(interval(drifting)[1] / drifting.at("time_s").get<double>(), 1e-9));
  }
  const Words steps{
      "--size", "64", "--steps", "10", "--iterations", "7", "12", "--model", folder / "drifting.fpm.json"};
  const json flow = predicted(folder, steps, "cavity");
  CHECK_THAT(interval(flow)[1] / flow.at("time_s").get<double>(),
             WithinRel(interval(drifting)[1] / drifting.at("time_s").get<double>(), 1e-9));
  models::Platform platform = made_up_platform();
  for (models::Channel& channel : platform.channels) channel.error = 0.5;
  const json communication = predicted(
      folder, {"--size", "64", "--block", "16", "--processes", "4", "--platform", write_platform(folder, platform)});
  CHECK_THAT(interval(communication)[1], WithinRel(1.5 * communication.at("time_s").get<double>(), 1e-12));
}

/// The first way is as good as the fastest; the others come in the order of their times.
json advised(const TemporaryFolder& folder, const std::string& app, const Words& more) {
  const json result = predicted(folder, more + Words{"--advise"}, app);
  std::vector<double> times_s;
  for (const json& run : result.at("runs")) times_s.push_back(run.at("time_s"));
  CHECK(std::is_sorted(times_s.begin() + 1, times_s.end()));
  CHECK(times_s.front() <= 1.05 * *std::min_element(times_s.begin(), times_s.end()));
  return result;
}

TEST_CASE("Advice takes the companion where it pays, balances between units that differ, and says so") {
  const TemporaryFolder folder;
  const std::string alone = write_unit_model(folder, "alone/host.fpm.json", "host", "0-1", 1e-3);
  const std::string host = write_unit_model(folder, "pair/host.fpm.json", "host", "0", 1.8e-3);
  for (const double device_s : {0.6e-3, 0.1}) {
    CAPTURE(device_s);
    const std::string device = write_unit_model(folder, "pair/device.fpm.json", "device", "1", device_s);
    const Words arguments{"--m", "640", "--block", "16", "--model", alone, host, device};
    const json advice = advised(folder, "gemm", arguments);
    const json& best = advice.at("runs")[0];
    // One unit at a time three ways; both together evenly and balanced, by `exact` with the same shares.
    CHECK(advice.at("runs").size() == 3 + 2);
    const bool pays = device_s < 1e-3;
    CHECK(best.at("units") == (pays ? "host 0 + device 1" : "host 0-1"));
    CHECK(best.at("processes") == 1);
    if (pays) {
      CHECK(best.at("partition") != "even");
      CHECK_THAT(best.at("time_s").get<double>(), WithinRel(18e-3, 1e-9));
    }
    const std::string text = advice.at("advice");
    CHECK(contains(text, pays ? "; the companion pays (2.22 times" : "; a companion does not pay ("));
    CHECK(contains(text, "balancing gains 2.00 times over even") == pays);
    CHECK(contains(text, "0 % of the time is communication"));
    const std::string table =
        good_run(1, steelyard_tool, Words{"predict", "gemm", "--advise"} + arguments, folder.path()).out;
    CHECK(lines_that_start(table, "advice     " + text) == 1);
    CHECK(lines_of(table).size() == 1 + 2 + 5 + 1);
    const std::string csv =
        good_run(1, steelyard_tool, Words{"predict", "gemm", "--advise", "--csv"} + arguments, folder.path()).out;
    CHECK(contains(csv, pays ? "1,host 0 + device 1,geometric,0.018,0.018,0.018," : "1,host 0-1,even,0.04,0.04,0.04,"));
  }
}

TEST_CASE("Of ways that are as fast to a few percent advice takes the simplest") {
  const TemporaryFolder folder;
  const std::string alone = write_unit_model(folder, "alone/host.fpm.json", "host", "0-1", 1e-3);
  const std::string host = write_unit_model(folder, "pair/host.fpm.json", "host", "0", 2e-3);
  for (const auto& [device_s, best] : {std::pair{1.87e-3, "host 0-1"}, {1.75e-3, "host 0 + device 1"}}) {
    const std::string device = write_unit_model(folder, "pair/device.fpm.json", "device", "1", device_s);
    // 10,000 block rows, of which both together compute as many in the time of 9,665 and 9,333 on the host alone.
    const json advice = advised(folder, "gemm", {"--m", "160000", "--block", "16", "--model", alone, host, device});
    CHECK(advice.at("runs")[0].at("units") == best);
  }
}

TEST_CASE("What advice takes for the best is predicted alike when it is asked for") {
  const TemporaryFolder folder;
  const std::string host = write_unit_model(folder, "host.fpm.json", "host", "0", 2e-3);
  const std::string device = write_unit_model(folder, "device.fpm.json", "device", "1", 1e-3);
  const Words arguments{"--m", "640", "--block", "16", "--processes", "4", "--model", host, device};
  const json best = advised(folder, "gemm", arguments).at("runs")[0];
  CHECK(best.at("processes") == 4);
  const json same = predicted(
      folder, arguments + Words{"--units", "host+device", "--partition", best.at("partition").get<std::string>()},
      "gemm");
  CHECK(same.at("time_s") == best.at("time_s"));
  CHECK(same.at("phases") == best.at("phases"));
}

TEST_CASE("Advice takes more processes where they pay, as many as nodes have cores for, and no longer messages") {
  const TemporaryFolder folder;
  models::Platform platform = made_up_platform();
  platform.nodes = {{"a", "", 2}};
  const Words any{"--size", "1024", "--processes", "4", "--platform", write_platform(folder, platform), "--model"};
  const auto processes = [&](const std::string& cores, double row_s, const Words& more = {}) {
    const Words arguments = any + Words{write_unit_model(folder, "host.fpm.json", "host", cores, row_s)} + more;
    return advised(folder, "jacobi", arguments).at("runs")[0].at("processes").get<int>();
  };
  CHECK(processes("0", 1e-4, {"--per-node", "1"}) == 4);
  CHECK(processes("0", 1e-9, {"--per-node", "1"}) == 1);
  CHECK(processes("0", 1e-4) == 2);
  CHECK(processes("0-1", 1e-4) == 1);
}

TEST_CASE("Advice takes the time tile whose models make the fastest steps") {
  const TemporaryFolder folder;
  const std::string single = write_unit_model(folder, "1.fpm.json", "host", "0", 1e-4, 1);
  for (const double pass_s : {4e-4, 16e-4}) {
    const std::string tiled = write_unit_model(folder, "8.fpm.json", "host", "0", pass_s, 8);
    const json advice = advised(folder, "wave2d", {"--size", "512", "--steps", "80", "--model", single, tiled});
    REQUIRE(advice.at("runs").size() == 2);
    CHECK(advice.at("runs")[0].at("variant") == (pass_s < 8e-4 ? "time_tile 8" : "time_tile 1"));
  }
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_predict
