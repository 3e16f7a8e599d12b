#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/app/speed_models.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/platform.hpp"
#include "models/estimate.hpp"
#include "models/fpm_file.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard {

/// Seconds of a repetition by one model of communication.
struct ModelForecast {
  std::string model;
  std::vector<std::pair<std::string, double>> phases;  ///< name and seconds; without speed models not the computation
  double communication_s = 0.0;                        ///< whether or not something else hides it
  double exposed_s = 0.0;                              ///< of it what nothing hides
  double total_s = 0.0;
};

/// A column of the app's own in the table of processing units, with a cell for every unit.
struct UnitColumn {
  std::string heading;
  std::vector<std::string> cells;
};

/// Columns `row`, `column`, `rows` and `columns` with the rectangle of every unit; `-` for an empty one.
std::vector<UnitColumn> rectangle_columns(std::span<const partition::Rectangle> parts);

/// Headings of an app's table of processing units.
struct UnitHeadings {
  std::string computation_units = "rows";
  std::string per = "/step";             ///< what times are for, behind `predicted` and `measured`: nothing for a run
  std::vector<UnitColumn> columns = {};  ///< before the computation units
};

/// Speed models that a run keeps as `models/rank<rank>-<host|device><suffix>.fpm.json`, one for every slot.
struct KeptModels {
  std::string suffix;
  std::vector<models::FpmFile> files;
};

/// Distribution of a problem over slots, with predicted times.
struct Plan {
  std::vector<std::int64_t> distribution;         ///< computation units of every slot
  std::vector<std::int64_t> column_distribution;  ///< where a second phase is distributed anew, of that phase
  std::vector<RectangleRecord> rectangles;        ///< where slices have two dimensions
  UnitHeadings headings;
  std::vector<double> unit_s;           ///< predicted seconds of every slot's kernels, for what `headings.per` says
  std::vector<ModelForecast> by_model;  ///< by each model of communication; the first one counts
  std::optional<double> time_s;         ///< predicted seconds of a repetition; nothing where no model predicts them
  std::string text;                     ///< what `--dry-run` prints in place of the line `predicted  <time_s>`
  std::string details;                  ///< table of what each rank gets, where units' shares are not all of it
  std::vector<KeptModels> models;
  std::map<std::string, double> params;   ///< that planning has chosen, kept in `run.json` beside describe()'s
  std::map<std::string, double> figures;  ///< of planning, such as its seconds
};

/// Sizes of an app's messages.
struct MessageFacts {
  double smallest_bytes = 0.0;
  double largest_bytes = 0.0;
  double footprint_bytes = 0.0;  ///< memory that a rank goes through between them
};

/// Channels between ranks, and the placement of ranks on nodes.
struct Channels {
  models::Platform platform;
  models::Placement placement;
};

/// Ranks with their processing units, and the costs of their work and messages: input of a plan. There are the
/// processes of a run (Frame), and processes on paper (Processes). All functions are collective.
class Resources {
 public:
  /// @param options outlive this
  explicit Resources(const RunOptions& options) : options_(options) {}
  virtual ~Resources() = default;

  const RunOptions& options() const { return options_; }
  /// Units of all ranks, in the order of their slices.
  const std::vector<Slot>& slots() const { return slots_; }
  /// The name of the partitioning algorithm.
  const std::string& partition() const { return options_.partition; }
  /// The algorithm of that name, over nodes and then within them where the user asks for it (`--levels 2`), for models
  /// of another kind where the user named one (`--kind`). It takes one model for every slot.
  /// @throws InvalidArgument for a name or a kind that there is not
  partition::Algorithm algorithm(const std::string& name) const;
  int ranks() const { return static_cast<int>(node_of_rank_.size()); }
  const std::vector<int>& node_of_rank() const { return node_of_rank_; }
  /// Host name of a rank's node, or its number where nodes have no names.
  std::string node_name(int rank) const;
  /// Emulated slowdown of every slot.
  const std::vector<double>& slowdowns() const { return slowdowns_; }
  /// One speed model for every slot: from these files (one for all slots, one per unit of a rank, or one per slot) or,
  /// in a run without files, measured; on paper, without files, constant speeds of 1 / slowdown. Seconds of files are
  /// multiplied by the quotient of the slot's slowdown and that of the measured unit.
  /// @param total computation units to be distributed @param algorithm for which the models are fitted
  /// @throws InvalidArgument for another number of files, FileFormatError for bad files, models of another kernel, or
  /// of several files one of a host for a device or the other way round; in a run CollectiveError instead
  SpeedModels speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm,
                           const std::vector<std::filesystem::path>& files);
  /// The models that most plans go by: of the files of `--model`, if any.
  SpeedModels speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm) {
    return speed_models(kernel, total, algorithm, options_.models);
  }
  /// A parameter of the model files that fixes what they are of; 1 where they do not name it; nothing without files.
  std::optional<double> model_parameter(const std::string& name) const;
  /// Seconds of a run of the kernel on the slowest slot, measured in passing on all slots at once; 0 on paper.
  /// @param units of every slot
  virtual double trial_s(const MeasurableKernel& /*kernel*/, const std::vector<std::int64_t>& /*units*/) { return 0.0; }
  /// Prints a line about the planning of a run.
  virtual void note(const std::string& /*line*/) {}
  /// Whether speed models without files are measured.
  virtual bool measures() const { return false; }
  /// Whether speed models tell seconds; processes without model files have relative speeds.
  bool has_seconds() const { return measures() || !options_.models.empty(); }
  /// The channels between the ranks: from the file of `--platform` or, in a run without a file, measured with such
  /// messages; nothing where they are unknown. A single rank has none, and needs none.
  virtual std::optional<Channels> channels(const MessageFacts& message) = 0;
  /// Estimate of a run's seconds by the plan's first model of communication. Its interval is that of the slowest slots'
  /// speed models and of these channels.
  models::Estimate estimate(const Plan& plan) const;
  /// Seconds of message patterns by each model of communication; none at all, by one of `no messages`, where channels
  /// are unknown. @param patterns makes `count` of them
  std::vector<models::PatternCosts> message_costs(
      const std::optional<Channels>& channels, std::size_t count,
      const std::function<std::vector<models::MessagePattern>()>& patterns) const;
  /// Bytes per second that all slots reach together when they stream through memory; 0 where that is unknown.
  /// @param slot_bytes that every slot streams through
  virtual double memory_bytes_per_s(const std::vector<std::int64_t>& slot_bytes) = 0;
  /// Seconds that a prediction adds for every CoExecution::run(): for starting a rank's units and waiting for them,
  /// without any work; 0 where speeds are those of model files.
  virtual double start_s() { return 0.0; }
  /// Runs work that may fail: all ranks then throw.
  virtual void on_all_ranks(const std::function<void()>& work) const = 0;

 protected:
  std::vector<int> node_of_rank_;
  std::vector<std::string> hosts_;  ///< of the nodes; empty where they have no names
  std::vector<Slot> slots_;
  std::vector<double> slowdowns_;
  double channel_error_ = 0.0;  ///< models::Platform::error() of the channels

 private:
  virtual void compare_origins(const std::vector<models::FpmFile>& /*files*/, const KernelFacts& /*facts*/) {}
  virtual SpeedModels models_without_files(const MeasurableKernel& kernel, std::int64_t total,
                                           const std::string& algorithm) = 0;

  const RunOptions& options_;
};

/// Number of processes on paper, and of those of a node.
struct ProcessCount {
  int processes = 1;
  int per_node = 0;  ///< 0: all on one node
};

/// Processes on a platform, for predictions of runs that do not take place.
class Processes : public Resources {
 public:
  /// The lines of `--layout` are processes, on nodes by host name; without a layout all have the units of `--units`, on
  /// nodes of `per_node`. Units are as slow as the layout or `--slowdown` say or, where these say nothing, as their
  /// models' files. Nodes that the platform names are of their kinds; the others are of the platform's only kind, and
  /// where it names none of them, all are of the kind of its first node.
  /// @param options outlive this @param has_messages whether the processes send any
  /// @throws InvalidArgument for several processes that send messages without a platform, FileFormatError for files
  /// that cannot be used
  Processes(const RunOptions& options, const ProcessCount& count, bool has_messages);

  std::optional<Channels> channels(const MessageFacts&) override { return Channels{platform_, placement()}; }
  double memory_bytes_per_s(const std::vector<std::int64_t>&) override {
    return platform_.memory_bytes_per_s() * nodes();
  }
  void on_all_ranks(const std::function<void()>& work) const override { work(); }

  int nodes() const;
  const models::Platform& platform() const { return platform_; }
  /// Lines about what may mislead: of speed models and channels that say so of themselves, and of each channel that may
  /// be shared by more transfers than it was measured with. Source: 001, section 3.
  std::string notes() const;

 private:
  void compare_origins(const std::vector<models::FpmFile>& files, const KernelFacts& /*facts*/) override {
    for (const models::FpmFile& file : files) doubts_.insert(file.note);
  }
  void read_layout_file(const std::filesystem::path& path);
  void add_units(int process, UnitChoice choice, const PerUnit<double>& slowdowns);
  /// @throws InvalidArgument for a node that the platform does not name, among nodes of several kinds
  models::Placement placement() const;
  SpeedModels models_without_files(const MeasurableKernel&, std::int64_t, const std::string& name) override {
    return {slowdowns_, algorithm(name)};
  }

  models::Platform platform_;
  std::set<std::string> doubts_;  ///< notes of the files
};

/// Phases of a run, with their measured seconds, beside those that the plan's first model predicts under their names.
std::vector<PhaseTime> beside_prediction(const Plan& plan,
                                         const std::vector<std::pair<std::string, double>>& measured_s);

/// Plans an app that repeats a kernel on all slices at the same time, followed by an exchange:
///   T = s + n (max_i t_i(x_i) + e), with n steps, slices x_i, e seconds of the exchange and s for the start.
/// @param phases names of the kernel's and of the exchange's @param exchange nothing for an app that sends no messages
/// @throws InvalidArgument, also without seconds where nothing is sent, FileFormatError
Plan plan_steps(Resources& on, const MeasurableKernel& kernel, std::int64_t total, std::int64_t steps,
                const std::pair<std::string, std::string>& phases,
                const std::optional<models::MessagePattern>& exchange, double footprint_bytes = 0.0);

}  // namespace steelyard
