#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// Seconds that a rank spent in the parts of its passes.
struct StepTimes {
  double kernels_s = 0.0;   ///< until the slower unit is done: borders with packing, and interior
  double exchange_s = 0.0;  ///< starting messages and waiting for them
  double host_s = 0.0;      ///< the host unit's own work, with what an emulated slowdown adds
  double companion_s = 0.0;
  UnitTimes host;  ///< the same by phase, without what a slowdown adds
  UnitTimes companion;

  StepTimes& operator+=(const StepTimes& other);
};

/// The wave equation on one rank's units, and its part of the exchange with the others. Per pass of some steps (003,
/// algorithm 5): borders on both units, exchange started, interior on both units, exchange finished.
template <class Scalar>
class Simulation {
 public:
  /// Fills a rectangle of a level, row after row without gaps.
  using Source = std::function<void(Level level, const partition::Rectangle& part, std::span<Scalar> values)>;
  /// Gets rectangles of the current level, some rows at a time.
  using Sink = std::function<void(const partition::Rectangle& part, std::span<const Scalar> values)>;

  /// @param rectangles of every slot; together they cover the grid once
  /// @param time_tile steps per pass
  Simulation(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
             const std::vector<partition::Rectangle>& rectangles, int time_tile, Overlap overlap = Overlap::full);
  ~Simulation();

  /// Sets both levels, halos included.
  void load(const Source& source);
  /// Hands out what this rank owns of the current level, a unit's rows in order.
  void store(const Sink& sink) const;
  /// Collective.
  StepTimes advance(std::int64_t steps);
  /// Gives the units other rectangles and moves both levels to their new owners, through host memory; needs room for
  /// what a rank owned besides what it owns then. Collective; returns this rank's seconds.
  /// @throws CollectiveError where memory is short
  double redistribute(const std::vector<partition::Rectangle>& rectangles);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::wave2d
