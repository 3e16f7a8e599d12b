#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "comm/collective.hpp"
#include "comm/measurement/bandwidth.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "comm/session.hpp"
#include "core/base/progress.hpp"
#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/app/mini_app.hpp"
#include "miniapps/app/speed_models.hpp"
#include "models/communication/platform.hpp"
#include "partition/balancing/load_balancer.hpp"

namespace steelyard {

/// Runs `work` on all ranks inside the profiling region `name` (`steelyard::<app>::<phase>`). Collective. @return
/// seconds from when all are ready until the slowest has done so, the same on all ranks
double timed_region(const Session& session, const std::string& name, const std::function<void()>& work);

class StepBalancer;

/// State of a run: its ranks, their units, and what apps ask of all of them together.
class Frame : public Resources {
 public:
  /// Collective. @param units with Kokkos started on their cores
  Frame(const Session& session, const RunOptions& options, const RankUnits& units, const std::string& app);

  const Session& session() const { return session_; }
  MPI_Comm comm() const { return session_.comm(); }
  const RankUnits& units() const { return units_; }
  CoExecution& co_execution() { return co_execution_; }
  bool measures() const override { return true; }

  /// A plan with an even distribution and no prediction, of an app that balances itself.
  Plan even_plan(std::int64_t total) const;
  /// Whether the app balances itself by the times of its own steps (`--partition dynamic`).
  bool is_dynamic() const { return partition() == "dynamic"; }
  /// The balance of such a run, which starts with `units` computation units of every slot. Distributes by the algorithm
  /// of `--partition`, or by `geometric` where that is `dynamic`. @param options but for the start
  StepBalancer balancer(const std::vector<std::int64_t>& units, partition::LoadBalancerOptions options = {}) const;
  /// Prints how long it took to measure channels, and keeps it as `channel_time_s`. @return nothing, and prints why,
  /// for more ranks than cores and for noise that looks like nothing that a channel does @throws CollectiveError for a
  /// bad file
  std::optional<Channels> channels(const MessageFacts& message) override;
  double trial_s(const MeasurableKernel& kernel, const std::vector<std::int64_t>& units) override;
  void note(const std::string& line) override { session_.print(line); }
  /// Says why numbers may mislead, in the output and in `run.json`.
  void doubt(const std::string& why);
  /// Whether a message between a device and another rank goes out of the device's memory: where MPI takes it, unless by
  /// the channels of `--platform` it takes less time staged in host memory.
  bool sends_from_device(double bytes) const;
  double memory_bytes_per_s(const std::vector<std::int64_t>& slot_bytes) override;
  double start_s() override;
  void on_all_ranks(const std::function<void()>& work) const override { collectively(work); }

  /// Runs work that may fail on one rank alone (memory, a file that vanished): all ranks then throw. Collective.
  void collectively(const std::function<void()>& work) const { steelyard::collectively(comm(), work); }
  void on_root(const std::function<void()>& work) const { steelyard::on_root(comm(), work); }
  /// Share of this rank's units in a distribution over all slots; 0 for a unit that the rank does not drive.
  UnitSizes own_share(std::span<const std::int64_t> units) const;
  /// Seconds of every slot, on every rank, from those of each rank's own units. Collective.
  std::vector<double> gather_seconds(const UnitSeconds& own) const;
  /// Shows how many repetitions are done, while there is one.
  std::optional<Progress>& progress() { return progress_; }
  /// After each step of a repetition, by one thread of a rank. @param steps of a repetition, 0 where that is unknown
  void step_done(std::int64_t steps_done, std::int64_t steps) {
    if (progress_) progress_->set_steps(steps_done, steps);
  }
  /// Whether the user has interrupted the run. Collective.
  bool is_interrupted() const;
  /// Between steps of a run with `--checkpoint`, which an interruption ends there and nowhere else: writes the file, by
  /// `writer`, where it is due or the run is interrupted. Collective.
  /// @param steps done so far @param before of these, at the last call @return whether the run goes on
  bool checkpoint(std::int64_t steps, std::int64_t before, const std::function<void()>& writer);
  /// Writes one of the run's files. Where that fails, the others are written all the same, before require_success()
  /// throws. Collective. @param writer throws CollectiveError
  void write(const std::function<void()>& writer);
  /// The file of `--output`, see write_matrix(). Collective.
  template <class Element>
  void write_output(std::int64_t rows, std::int64_t columns, const MatrixStore<Element>& store) {
    write([&] { write_matrix<Element>(session_, options().output, rows, columns, store); });
  }
  /// @throws CollectiveError (exit code 3) where a file could not be written, or for `failure` unless that is empty
  void require_success(const std::string& failure) const;

  /// The largest of all ranks. Collective.
  double max(double value) const { return all_max(comm(), value); }
  /// Rejects data for which some systems would end the program. @param what takes the bytes, for the message
  /// @throws InvalidArgument for more than this rank's share of the node's memory
  void require_memory(const std::string& what, double bytes) const;

 private:
  friend ExitCode run_mini_app(Session& session, MiniApp& app);

  /// Doubts speed models of another machine, build or number of cores than the slots'. Collective.
  void compare_origins(const std::vector<models::FpmFile>& files, const KernelFacts& facts) override;
  /// Measures, see speed_models.cpp. Prints how long that took, and adds it to `model_time_s`.
  SpeedModels models_without_files(const MeasurableKernel& kernel, std::int64_t total,
                                   const std::string& algorithm) override;

  const Session& session_;
  RankUnits units_;
  CoExecution co_execution_;
  RunRecord record_;  ///< that the run keeps and prints, put together by run_mini_app()
  std::optional<Progress> progress_;
  std::vector<std::string> failures_;  ///< of files
  models::Platform platform_;          ///< of `--platform`; empty without
};

/// Computation units of every slot, which move while a run goes on, the same on every rank: partition::LoadBalancer on
/// the seconds of all ranks. Source: 000, section 6.1.5.
class StepBalancer {
 public:
  /// @param frame outlives this
  StepBalancer(const Frame& frame, const partition::LoadBalancer& balancer) : frame_(frame), balancer_(balancer) {}

  /// After every step. @param own_s of this rank's units in it @param steps_left still to come Collective. @return
  /// whether units() has changed: the data moves before the next step
  bool record(const UnitSeconds& own_s, double steps_left);
  const std::vector<std::int64_t>& units() const { return balancer_.current().units; }
  int repartitions() const { return balancer_.repartitions(); }
  /// Keeps how often the units moved, and where they have come to.
  void sum_up(Outcome& outcome, Plan& plan) const;

 private:
  const Frame& frame_;
  partition::LoadBalancer balancer_;
};

/// Medians, over the repetitions, of values that each repetition has as many of.
class Medians {
 public:
  void add(std::vector<double> values) { rows_.push_back(std::move(values)); }
  /// @throws InvalidArgument where nothing was added
  std::vector<double> values() const;

 private:
  std::vector<std::vector<double>> rows_;
};

/// Bound of kernels that stream through memory: the bandwidth that the units of all ranks reach together. Collective.
class MemoryBound {
 public:
  /// @param slot_bytes of every slot's arrays, of which there are two
  MemoryBound(Frame& frame, const std::vector<std::int64_t>& slot_bytes);

  /// Measures before each repetition. @return bytes per second
  double measure();
  /// Median of the measurements.
  double bytes_per_s() const;
  /// Keeps the bound, and a speed's share of it. @return the line `share      78 % of the memory bound …`, with `cache`
  /// for `memory` where the last caches of every node hold the arrays
  /// @param bound behind its name, such as ` of 2.5 GFLOP/s`, or nothing
  std::string sum_up(Outcome& outcome, double share, const std::string& bound = "") const;

 private:
  const Frame& frame_;
  GroupBandwidth bandwidth_;
  std::vector<double> bytes_per_s_;
};

/// Looks at what else works on the nodes' cores from here on.
class OtherWork {
 public:
  explicit OtherWork(const Session& session);
  /// Cores that others keep busy on average, on the node with the most of them; NaN where a system does not say.
  /// Collective.
  double cores() const;
  /// Reason to doubt times beside others' work on this many cores; empty below 0.25 cores and below 5 % of all.
  std::string doubt(double cores) const;

 private:
  /// Seconds of the node's cores, of this process, and of the clock.
  struct Seconds {
    double all, own, clock;
  };
  static Seconds now();

  const Session& session_;
  Seconds start_;
};

/// Keeps what a program has finished: in between, for it may be killed, and where SIGINT or SIGTERM end it, with
/// ExitCode::interrupted or terminated. The signal after that ends it at once. One at a time.
class Interruption {
 public:
  /// @param leave writes what is finished, on a thread of its own, before the signal ends the program, whatever it is
  /// doing: mpirun leaves it no more than a second. Must not call MPI. Empty where the program ends itself and asks
  /// happened() again and again
  /// @param save writes what is finished, within update(): after a second, then ever more seldom, every 10 s at last.
  /// An Error is not told: the program's end meets it again
  explicit Interruption(std::function<void()> leave, std::function<void()> save = {});
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Changes what `leave` and `save` read, never while they read.
  void update(const std::function<void()>& change);
  /// Whether this process has got a signal.
  static bool happened();
  /// The signal's, ExitCode::interrupted without one.
  static ExitCode exit_code();

 private:
  void wait();

  std::function<void()> leave_, save_;
  double start_s_, next_save_s_;
  std::mutex leaving_;
  std::thread watch_;
};

}  // namespace steelyard
