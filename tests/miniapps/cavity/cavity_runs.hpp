#pragma once

#include <filesystem>
#include <vector>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {

inline const std::filesystem::path cavity_program = STEELYARD_CAVITY;

/// run_app() with cavity; neither speeds nor channels are measured before.
inline std::vector<Outcome> run_cavity(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(cavity_program, runs, folder);
}
inline Outcome run_cavity(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_cavity({{ranks, arguments}}, folder).front();
}

}  // namespace steelyard::tests
