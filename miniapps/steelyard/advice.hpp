#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "miniapps/app/mini_app.hpp"
#include "miniapps/app/processes.hpp"

namespace steelyard::tool {

/// A way to run an app, and what it is predicted to take.
struct AdvisedRun {
  int processes = 1;
  std::string units;    ///< of every process, such as `host 0 + device 1`
  std::string variant;  ///< parameters of its models that differ between the ways, such as `time_tile 4`
  std::string partition;
  bool has_companion = false;
  std::size_t units_per_process = 1;
  std::size_t cores = 0;  ///< of a process's units
  ModelForecast forecast;
  models::Estimate estimate;

  /// Name of the run, such as `2 processes with host 0, even`.
  std::string name() const;
};

/// Ways that are slower than the fastest by no more than this are as good as it, for models are not surer.
inline constexpr double as_good = 1.05;

/// All ways that models tell of: first the simplest of those that are as good as the fastest (with the fewest
/// processes, then with the fewest units), then the others, the fastest first. There are 1, 2, 4, … processes up to
/// `--processes`; a host or a companion alone, each as one of the files of `--model` was measured, or both of files
/// that lie in the same folder and are of different cores; each partition of the app where there are several processing
/// units. Ways that need more cores than the platform's nodes have are left out, those that cannot be predicted, and
/// partitions with the same shares as one before them.
/// @throws InvalidArgument without models, and where nothing can be predicted; FileFormatError
/// @param app with its options as the user gave them; those that advice chooses are changed
std::vector<AdvisedRun> advised_runs(MiniApp& app, const ProcessCount& most);

/// One sentence: which run is the best and by how much, beside the fastest of one process without a companion; what
/// a companion and balancing gain; and where the time goes. @param runs at least one, in the order of advised_runs()
std::string advice_text(const std::vector<AdvisedRun>& runs);

}  // namespace steelyard::tool
