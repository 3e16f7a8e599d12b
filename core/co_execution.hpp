#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Seconds that each unit was busy; 0 for a unit that the rank does not drive.
struct UnitSeconds {
  double host_s = 0.0;
  double companion_s = 0.0;

  UnitSeconds& operator+=(const UnitSeconds& other) {
    host_s += other.host_s;
    companion_s += other.companion_s;
    return *this;
  }
  /// Seconds of one of `steps` steps.
  UnitSeconds operator/(double steps) const { return {host_s / steps, companion_s / steps}; }
};

/// Runs work on the host unit and on the companion at the same time: the host's on the calling thread, the companion's
/// on a driver thread bound to its core. With one unit all work is the calling thread's.
class CoExecution {
 public:
  using Work = std::function<void()>;

  /// @throws InvalidArgument for a companion's core that the machine does not have
  CoExecution(const Machine& machine, const RankUnits& units);
  ~CoExecution();
  CoExecution(const CoExecution&) = delete;
  CoExecution& operator=(const CoExecution&) = delete;

  /// Starts both callables together and returns when both have ended. Each must fence what it launched. A unit with a
  /// slowdown F then waits until F times its own seconds have passed; the waiting counts as its time.
  /// Work for a unit that the rank does not drive is not run. The first exception is thrown again once both have ended.
  UnitSeconds run(const Work& host, const Work& companion);

  /// Runs a section of the work that a run() has given to the calling thread; elsewhere it is work like any other.
  /// A unit with a slowdown waits at the end of each section, so that other units see it finished when a slower unit
  /// would have finished it. Work with timed sections is busy in these only, and not slowed down between them.
  static void timed_section(const Work& work);

 private:
  class Driver;
  /// Seconds of a unit's work on the calling thread, which is the unit's.
  double run_unit(ProcessingUnit::Kind kind, const Work& work);
  /// Seconds since then, once a slowed-down unit has waited.
  double seconds_since(double start_s, ProcessingUnit::Kind kind) const;

  RankUnits units_;
  PerUnit<std::optional<double>> sections_s_;  ///< of each unit's work in progress; nothing without sections
  std::unique_ptr<Driver> driver_;
};

}  // namespace steelyard
