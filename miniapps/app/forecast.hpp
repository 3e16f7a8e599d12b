#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/app/speed_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "models/estimate.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace CLI {
class App;
}

namespace steelyard {

/// What a user says of processes that need not exist.
struct ProcessOptions {
  bool has_messages = true;             ///< between the processes, whose times a platform says
  UnitChoice units = UnitChoice::host;  ///< of every process
  int processes = 1;
  int per_node = 0;  ///< 0: all on one node
  std::filesystem::path layout;
  std::filesystem::path platform;
  std::vector<std::filesystem::path> models;
  std::string kind;  ///< of the speed models; empty for what the algorithm asks for
};

/// Adds `--processes --per-node --units --layout --model --kind` and, where processes send messages, `--platform`.
void add_process_options(CLI::App& parser, ProcessOptions& options);

/// Processes on a platform, for predictions of runs that do not take place.
class Processes : public Resources {
 public:
  /// A processing unit of a process.
  struct Unit {
    int process = 0;
    ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
    double slowdown = 1.0;
  };

  /// The layout's lines are processes, on nodes by host name; without a layout they have the same units, on nodes of
  /// `per_node`, as slow as their models' files say. Nodes that the platform names are of their kinds; the others are
  /// of the platform's only kind, and where it names none of them, all are of the kind of its first node.
  /// @throws InvalidArgument for several processes that send messages without a platform, FileFormatError for files
  /// that cannot be used
  explicit Processes(const ProcessOptions& options);

  int count() const { return static_cast<int>(node_of_process_.size()); }
  void set_partition(const std::string& name) { partition_ = name; }

  int ranks() const override { return count(); }
  const std::vector<Slot>& slots() const override { return slots_; }
  std::string partition() const override { return partition_; }
  SpeedModels speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm) override;
  bool has_seconds() const override { return has_models(); }
  bool measures() const override { return false; }
  SpeedModels speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm,
                           const std::vector<std::filesystem::path>& files) override;
  std::optional<Channels> channels(const MessageFacts&) override { return Channels{platform_, placement()}; }
  double memory_bytes_per_s(const std::vector<std::int64_t>&) override {
    return platform_.memory_bytes_per_s() * nodes();
  }
  std::vector<int> node_of_rank() const override { return node_of_process_; }
  std::vector<double> slowdowns() const override;
  double start_s() override { return 0.0; }
  void on_all_ranks(const std::function<void()>& work) const override { work(); }

  int nodes() const;
  const std::vector<int>& node_of_process() const { return node_of_process_; }
  /// Process by process, the host's before the companion's.
  const std::vector<Unit>& units() const { return units_; }
  std::vector<int> process_of_unit() const;
  std::string node_name(int rank) const override;
  const models::Platform& platform() const { return platform_; }
  /// @throws InvalidArgument for a node that the platform does not name, among nodes of several kinds
  models::Placement placement() const;
  /// A line for each channel that may be shared by more transfers than it was measured with. Source: 001, section 3.
  std::string concurrency_note() const;

  /// Whether there are speed models of the user's: without them speeds are relative and seconds mean nothing.
  bool has_models() const { return !models_.empty(); }
  /// A model of each unit: of the only file, of a file for each unit of a process, or of a file each, as slow as the
  /// unit is compared with the measured one. Without files a constant speed of 1 / slowdown.
  /// @param algorithm for which they are fitted @param files in place of those of the options
  /// @throws InvalidArgument for another number of files, FileFormatError for models of something else than `facts`
  SpeedModels speed_models(const KernelFacts& facts, const partition::Algorithm& algorithm) const {
    return speed_models(facts, algorithm, models_);
  }
  SpeedModels speed_models(const KernelFacts& facts, const partition::Algorithm& algorithm,
                           const std::vector<std::filesystem::path>& files) const;

 private:
  void read_layout_file(const std::filesystem::path& path);

  std::vector<int> node_of_process_;
  std::vector<std::string> hosts_;  ///< of the nodes; empty where they have no names
  std::vector<Unit> units_;
  std::vector<Slot> slots_;  ///< of the units
  std::string partition_ = "geometric";
  models::Platform platform_;
  std::vector<std::filesystem::path> models_;
  std::string kind_;  ///< of the models
};

/// What models say of a run that does not take place.
struct Forecast {
  std::vector<ModelForecast> models;                            ///< at least one; the first one counts
  std::vector<std::int64_t> distribution, column_distribution;  ///< computation units of every processing unit, or none
  std::vector<partition::Rectangle> rectangles;                 ///< of every process or unit, or none
  std::string details;                                          ///< of `--detail`
  std::vector<models::Estimate> units;                          ///< of every processing unit; none without models
  double channel_error = 0.0;                                   ///< see models::Platform::error()

  models::Estimate estimate(const ModelForecast& by_model) const {
    return models::run_estimate(units, by_model.total_s, by_model.exposed_s, channel_error);
  }
};

/// A mini-app's part of `steelyard predict APP`, of its options.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  /// Those that advice chooses from.
  virtual std::vector<std::string> partitions() const { return {"even", "geometric", "exact"}; }
  /// Takes over what the user may choose freely and a speed model is of, such as the time tile. @return it in words
  virtual std::string adopt(const models::FpmFile& /*model*/) { return ""; }
  /// Lines that say what is predicted, each with its newline.
  virtual std::string problem() const = 0;
  /// @throws InvalidArgument, FileFormatError
  virtual Forecast forecast(Processes& processes, const std::string& partition) const = 0;
  /// Makes the problem so many times as large for weak scaling, where the app has it.
  void enlarge(std::int64_t times) { times_ = times; }
  virtual bool has_weak_scaling() const { return false; }

 protected:
  std::int64_t times_ = 1;  ///< as many rows as the user named
};

class MiniApp;

/// Predicts by MiniApp::plan(). @param app outlives this, with its options as they are
/// @param partitions that advice chooses from
std::unique_ptr<Forecaster> forecast_by_plan(const MiniApp& app,
                                             std::vector<std::string> partitions = {"even", "geometric", "exact"});

}  // namespace steelyard
