#pragma once

#include <filesystem>
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

namespace steelyard {

/// What a user says of processes that need not exist.
struct ProcessOptions {
  bool has_messages = true;  ///< between the processes, whose times a platform says
  int processes = 1;
  int per_node = 0;  ///< 0: all on one node
  std::filesystem::path layout;
  std::filesystem::path platform;
  std::vector<std::filesystem::path> models;
};

/// Adds `--processes --per-node --layout --model` and, where processes send messages, `--platform`.
void add_process_options(CLI::App& parser, ProcessOptions& options);

/// Processes on a platform, for predictions of runs that do not take place.
class Processes {
 public:
  /// A processing unit of a process.
  struct Unit {
    int process = 0;
    ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
    double slowdown = 1.0;
  };

  /// The layout's lines are processes, on nodes by host name; without a layout they are host units on nodes of
  /// `per_node`. Nodes that the platform names are of their kinds; the others have none, unless it names none of them:
  /// then all are of the kind of its first node.
  /// @throws InvalidArgument for several processes that send messages without a platform, FileFormatError for files
  /// that cannot be used
  explicit Processes(const ProcessOptions& options);

  int count() const { return static_cast<int>(node_of_process_.size()); }
  int nodes() const;
  const std::vector<int>& node_of_process() const { return node_of_process_; }
  /// Process by process, the host's before the companion's.
  const std::vector<Unit>& units() const { return units_; }
  std::vector<int> process_of_unit() const;
  /// Host name of a process's node, or its number where nodes have no names.
  std::string node_name(std::size_t process) const;
  const models::Platform& platform() const { return platform_; }
  models::Placement placement() const;

  /// Whether there are speed models of the user's: without them speeds are relative and seconds mean nothing.
  bool has_models() const { return !models_.empty(); }
  /// A model of each unit: of the only file, or of a file each, as slow as the unit is compared with the measured one.
  /// Without files a constant speed of 1 / slowdown.
  /// @param algorithm for which they are fitted
  /// @throws InvalidArgument for another number of files, FileFormatError for models of something else than `facts`
  std::vector<models::SpeedModelPtr> speed_models(const KernelFacts& facts,
                                                  const partition::Algorithm& algorithm) const {
    return speed_models(models_, facts, algorithm);
  }
  /// The same of other files.
  std::vector<models::SpeedModelPtr> speed_models(const std::vector<std::filesystem::path>& files,
                                                  const KernelFacts& facts,
                                                  const partition::Algorithm& algorithm) const;

 private:
  void read_layout_file(const std::filesystem::path& path);

  std::vector<int> node_of_process_;
  std::vector<std::string> hosts_;  ///< of the nodes; empty where they have no names
  std::vector<Unit> units_;
  models::Platform platform_;
  std::vector<std::filesystem::path> models_;
};

/// The same models without their ownership.
std::vector<const models::SpeedModel*> pointers_to(const std::vector<models::SpeedModelPtr>& models);

}  // namespace steelyard
