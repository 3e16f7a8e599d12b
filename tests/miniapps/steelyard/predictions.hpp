// A made-up platform of two channels, and what `steelyard predict` says of runs on it.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "models/communication/platform.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_predict {

inline constexpr double memory_s = 1e-9, network_s = 8e-9;  ///< of a byte
inline constexpr double memory_start_s = 2e-6, network_start_s = 3e-5;
inline constexpr double two_at_once = 1.5;  ///< what a transfer takes when there are two, as a multiple

inline models::Channel channel(int id, double start_s, double byte_s) {
  models::Channel channel;
  channel.id = id;
  channel.name = id == 0 ? "shared memory" : "network";
  channel.scope = id == 0 ? models::Channel::Scope::node : models::Channel::Scope::network;
  channel.path = {id};
  channel.hockney = {{std::numeric_limits<double>::infinity(), {start_s, 1.0 / byte_s}}};
  channel.loggp = models::LogGP{start_s, 0.0, 0.0, 0.0, byte_s};
  channel.tau_lop = models::TauLopTables{models::SizeTable({{1.0, 0.0}}, models::SizeTable::Outside::constant),
                                         models::TransferTable({{1.0, 1, byte_s}, {1.0, 2, two_at_once * byte_s}})};
  return channel;
}

inline models::Platform made_up_platform() {
  models::Platform platform;
  platform.channels = {channel(0, memory_start_s, memory_s), channel(1, network_start_s, network_s)};
  return platform;
}

inline std::string write_platform(const TemporaryFolder& folder,
                                  const models::Platform& platform = made_up_platform()) {
  models::write_platform_file(folder / "made-up.platform.json", platform);
  return folder / "made-up.platform.json";
}

inline nlohmann::json predicted(const TemporaryFolder& folder, const Words& more, const std::string& app = "summa") {
  const Outcome outcome = good_run(1, steelyard_tool, Words{"predict", app, "--format", "json"} + more, folder.path());
  INFO(outcome.out << outcome.err);
  nlohmann::json result = nlohmann::json::parse(outcome.out);
  REQUIRE(result.at("app") == app);
  return result;
}

inline double phase_time_s(const nlohmann::json& prediction, const std::string& name) {
  for (const nlohmann::json& phase : prediction.at("phases")) {
    if (phase.at("name") == name) return phase.at("time_s");
  }
  FAIL("no phase " << name);
  return 0.0;
}

/// Returns what is predicted of a program's run with these options; fails the test unless its `--dry-run` says the
/// same.
inline nlohmann::json predicted_as_run(const TemporaryFolder& folder, int ranks, const std::filesystem::path& program,
                                       const Words& options) {
  const std::string app = program.filename();
  INFO(joined(app, options) << " on " << ranks << " ranks");
  good_run(ranks, program, options + Words{"--dry-run", "--result", app}, folder.path());
  const nlohmann::json dry = read_json_file(folder / (app + "/run.json"));
  const nlohmann::json paper = predicted(folder, options + Words{"--processes", std::to_string(ranks)}, app);
  CHECK(paper.at("distribution") == dry.at("distribution"));
  CHECK(paper.at("time_s") == dry.at("predicted_time_s"));
  CHECK(paper.at("predicted_interval_s") == dry.at("predicted_interval_s"));
  REQUIRE(paper.at("phases").size() == dry.at("phases").size());
  for (const auto& phase : dry.at("phases")) CHECK(phase_time_s(paper, phase.at("name")) == phase.at("predicted_s"));
  return paper;
}

}  // namespace steelyard::tests::test_steelyard_predict
