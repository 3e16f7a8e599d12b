#pragma once

#include <filesystem>
#include <vector>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {

inline const std::filesystem::path cavity_program = STEELYARD_CAVITY;

/// run_app() with cavity; neither speeds nor channels are measured before.
inline std::vector<Outcome> run_cavity(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platforms;
  const std::string platform =
      platforms.write("memory.platform.json", R"({"schema": "steelyard.platform/1", "channels": [
    {"id": 0, "path": [0], "hockney": {"segments":
     [{"up_to_bytes": null, "latency_s": 1e-6, "bandwidth_bytes_per_s": 2e9}]}}]})");
  for (AppRun& run : runs) run.arguments.insert(run.arguments.end(), {"--platform", platform});
  return run_app(cavity_program, runs, folder);
}
inline Outcome run_cavity(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_cavity({{ranks, arguments}}, folder).front();
}

}  // namespace steelyard::tests
