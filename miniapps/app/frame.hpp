#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/kernel_measurement.hpp"
#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/app/speed_models.hpp"
#include "models/communication/platform.hpp"

namespace steelyard {

/// What the frame has set up for a run: its ranks, their units, and what apps ask of all of them together.
class Frame {
 public:
  /// Collective. @param units with Kokkos started on their cores
  Frame(const Session& session, const RunOptions& options, const RankUnits& units, const std::string& app);

  const Session& session() const { return session_; }
  MPI_Comm comm() const { return session_.comm(); }
  const RunOptions& options() const { return options_; }
  const RankUnits& units() const { return units_; }
  CoExecution& co_execution() { return co_execution_; }
  /// Units of all ranks, in the order of their slices.
  const std::vector<Slot>& slots() const { return slots_; }
  /// The rank of every slot.
  std::vector<int> slot_ranks() const;
  double element_bytes() const { return options_.element == ElementType::float64 ? sizeof(double) : sizeof(float); }

  /// What the run keeps and prints; apps fill it in AppRun::describe() only.
  RunRecord& record() { return record_; }

  /// The speed models that the run goes by: those of `--model` or, without it, measured.
  /// @param total computation units to be distributed @param algorithm for which they are fitted
  /// Collective. @throws CollectiveError
  SpeedModels speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm);
  /// A plan with what `--partition` makes of them: distribution, seconds of every slot, models; for `dynamic` an even
  /// distribution without any of these. Collective.
  /// @throws CollectiveError for a total that does not fit
  Plan distribute(const MeasurableKernel& kernel, std::int64_t total);
  /// Whether the app balances itself by the times of its own steps (`--partition dynamic`).
  bool is_dynamic() const { return options_.partition == "dynamic"; }
  /// The channels between the ranks, see obtain_platform(). Collective.
  std::optional<models::Platform> platform(const MessageFacts& message);
  /// Where the ranks are on the platform. Collective.
  models::Placement placement(const models::Platform& platform) const;
  /// Predicted seconds of messages between the ranks, by the first model that the platform has; 0 where the channels
  /// are unknown. @param footprint_bytes memory that a rank goes through between two exchanges. Collective.
  double exchange_seconds(const models::MessagePattern& pattern, double footprint_bytes);
  /// Seconds that CoExecution::run() adds to work, on the slowest rank. Collective.
  double start_seconds();

  /// Runs work that may fail on a rank alone (memory, a file that vanished): all ranks then throw. Collective.
  void collectively(const std::function<void()>& work) const { steelyard::collectively(comm(), work); }
  void on_root(const std::function<void()>& work) const { steelyard::on_root(comm(), work); }
  /// This rank's part of what is said of all slots. @param units of every slot
  UnitSizes own_share(std::span<const std::int64_t> units) const;
  /// Seconds of every slot, from what each rank says of its units. Collective.
  std::vector<double> gather_seconds(const UnitSeconds& own) const;
  /// The largest of all ranks. Collective.
  double max(double value) const { return all_max(comm(), value); }
  /// Some systems end the program where others would say that memory is short.
  /// @param what takes it, for the message @throws InvalidArgument for more than this rank's share of the node's memory
  void require_memory(const std::string& what, double bytes) const;

 private:
  const Session& session_;
  const RunOptions& options_;
  RankUnits units_;
  CoExecution co_execution_;
  std::vector<Slot> slots_;
  RunRecord record_;
};

/// @throws InvalidArgument unless there is such an algorithm or, of an app that goes in steps, the name is `dynamic`
void require_partition(const std::string& name, bool may_be_dynamic);

/// Lines for the header that name the library of each unit, from the settings `host_<what>` and `device_<what>`.
std::string library_lines(const RunRecord& record, const std::string& what);

/// Values of each repetition, as many in each, and their medians over the repetitions.
class Medians {
 public:
  void add(std::vector<double> values) { rows_.push_back(std::move(values)); }
  /// @throws InvalidArgument where nothing was added
  std::vector<double> values() const;
  double value() const { return values().front(); }

 private:
  std::vector<std::vector<double>> rows_;
};

}  // namespace steelyard
