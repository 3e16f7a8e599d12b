#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/processing_unit.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"

namespace CLI {
class App;
}

namespace steelyard::tool {

/// What a user says of processes that need not exist.
struct ProcessOptions {
  int processes = 1;
  int per_node = 0;  ///< 0: all on one node
  std::filesystem::path layout;
  std::filesystem::path platform;
  std::vector<std::filesystem::path> models;
};

/// Adds `--processes --per-node --layout --platform --model`.
void add_process_options(CLI::App& parser, ProcessOptions& options);

/// A processing unit of a process.
struct PredictedUnit {
  int process = 0;
  ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
  double slowdown = 1.0;
};

/// Where processes run and what they drive.
struct PredictedProcesses {
  std::vector<int> node_of_process;
  std::vector<std::string> hosts;    ///< of the nodes; empty where they have no names
  std::vector<PredictedUnit> units;  ///< process by process, the host's before the companion's

  int count() const { return static_cast<int>(node_of_process.size()); }
  int nodes() const;
};

/// The layout's lines, one process each on nodes by host name; without one, host units on nodes of `per_node`.
/// @throws InvalidArgument, FileFormatError for a layout that cannot be used
PredictedProcesses predicted_processes(const ProcessOptions& options);

/// The platform of the file; an empty one for a single process without. @throws InvalidArgument where it is missing
models::Platform read_platform(const ProcessOptions& options, const PredictedProcesses& processes);

/// Processes on the platform. Nodes that it names are of their kinds; those that it does not name have none, unless it
/// names none of them: then all are of the kind of its first node.
models::Placement placement_on(const models::Platform& platform, const PredictedProcesses& processes);

/// A model of each unit: of the only file, or of a file each, as slow as the unit is compared with the one measured.
/// Without files a constant speed of 1 / slowdown.
/// @throws InvalidArgument for another number of files, FileFormatError as require_same_kernel(), for several also
/// require_same_kind()
std::vector<models::SpeedModelPtr> unit_models(const ProcessOptions& options, const PredictedProcesses& processes,
                                               const KernelFacts& facts, const partition::Algorithm& algorithm);

}  // namespace steelyard::tool
