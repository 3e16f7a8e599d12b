#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {

inline const std::filesystem::path fft2d_program = STEELYARD_FFT2D;

/// Models of both passes: those that the words name, or some of which all units get the same.
inline Words with_column_models(Words words, const TemporaryFolder& folder) {
  const auto model = std::find(words.begin(), words.end(), "--model");
  Words files;
  for (auto word = model; word != words.end(); ++word) {
    if (word != model && word->rfind("--", 0) == 0) break;
    if (word != model) files.push_back(*word);
  }
  if (files.empty()) {
    const std::string even = folder / "even.fpm.json";
    if (!std::filesystem::exists(even)) write_model(folder, "even.fpm.json", 1e-6);
    words.insert(words.end(), {"--model", even});
    files.push_back(even);
  }
  words.push_back("--column-model");
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

/// run_app() with fft2d; nothing is measured before.
inline std::vector<Outcome> run_fft2d(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) {
    run.arguments = with_column_models(run.arguments, folder) + with_platform(platform);
    run.arguments.insert(run.arguments.end(), {"--planner", "estimate"});
  }
  return run_app(fft2d_program, runs, folder);
}
inline Outcome run_fft2d(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_fft2d({{ranks, arguments}}, folder).front();
}

}  // namespace steelyard::tests
