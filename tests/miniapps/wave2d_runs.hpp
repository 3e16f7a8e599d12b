#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {

inline const std::filesystem::path wave2d = STEELYARD_WAVE2D;

/// run_app() with wave2d; channels are not measured before.
inline std::vector<Outcome> run_wave2d(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(wave2d, runs, folder);
}
inline Outcome run_wave2d(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_wave2d({{ranks, arguments}}, folder).front();
}

/// Rows of every unit in the table that wave2d prints.
inline std::vector<long long> rows_in_table(const std::string& out) { return slices_in_table(out, "rows"); }

}  // namespace steelyard::tests
