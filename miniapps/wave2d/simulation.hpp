#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/wave2d/field_slice.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// Seconds that a rank spent in the parts of its steps.
struct StepTimes {
  double kernels_s = 0.0;   ///< borders and interior, until the slower unit is done
  double exchange_s = 0.0;  ///< starting messages and waiting for them
  double host_s = 0.0;      ///< the host unit's own kernels
  double companion_s = 0.0;
};

/// The wave equation on one rank's units, and its part of the exchange with the others. Per step (003, algorithm 5):
/// borders on both units, exchange started, interior on both units, exchange finished.
template <class Scalar>
class Simulation {
 public:
  /// Fills `rows` with `count` rows of a level from global row `first`.
  using Source = std::function<void(Level level, std::int64_t first, std::int64_t count, std::span<Scalar> rows)>;
  /// Gets rows of the current level, some at a time.
  using Sink = std::function<void(std::int64_t first, std::int64_t count, std::span<const Scalar> rows)>;

  /// @param rows computation units (grid rows) of every slot; sums to problem.rows
  Simulation(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
             const std::vector<std::int64_t>& rows);
  ~Simulation();

  /// Sets both levels, halo rows included.
  void load(const Source& source);
  /// Hands out the rows of the current level that this rank owns, in order.
  void store(const Sink& sink) const;
  /// Collective among the ranks with slices.
  StepTimes advance(std::int64_t steps);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::wave2d
