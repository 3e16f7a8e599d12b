#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/app/speed_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/platform.hpp"

namespace CLI {
class App;
}

namespace steelyard {

/// Number of processes on paper, and of those of a node.
struct ProcessCount {
  int processes = 1;
  int per_node = 0;  ///< 0: all on one node
};

/// Adds `--processes --per-node` beside the options that a prediction shares with a run.
void add_process_options(CLI::App& parser, ProcessCount& count);

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

  int ranks() const override { return static_cast<int>(node_of_rank_.size()); }
  std::vector<int> node_of_rank() const override { return node_of_rank_; }
  std::string node_name(int rank) const override;
  std::vector<double> slowdowns() const override { return slowdowns_; }
  std::optional<Channels> channels(const MessageFacts&) override { return Channels{platform_, placement()}; }
  double channel_error() const override { return platform_.error(); }
  double memory_bytes_per_s(const std::vector<std::int64_t>&) override {
    return platform_.memory_bytes_per_s() * nodes();
  }
  void on_all_ranks(const std::function<void()>& work) const override { work(); }

  int nodes() const;
  const models::Platform& platform() const { return platform_; }
  /// A line for each channel that may be shared by more transfers than it was measured with. Source: 001, section 3.
  std::string concurrency_note() const;

 private:
  void read_layout_file(const std::filesystem::path& path);
  void add_units(int process, UnitChoice choice, const UnitSlowdowns& slowdowns);
  /// @throws InvalidArgument for a node that the platform does not name, among nodes of several kinds
  models::Placement placement() const;
  SpeedModels models_without_files(const MeasurableKernel&, std::int64_t, const std::string&) override {
    return SpeedModels(slowdowns_);
  }

  std::vector<int> node_of_rank_;
  std::vector<std::string> hosts_;  ///< of the nodes; empty where they have no names
  std::vector<double> slowdowns_;
  models::Platform platform_;
};

}  // namespace steelyard
