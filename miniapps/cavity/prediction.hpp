#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/app/frame.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Of a row of a field, which a halo is made of.
double row_bytes(std::int64_t columns);

/// What a V-cycle needs where several units share out the finer levels, see MultigridLevels.
struct SharedCycle {
  SyncCounts syncs;          ///< halos of right sides and corrections, and a gather, which counts as an exchange
  double whole_share = 0.0;  ///< of all levels' cells: those that every unit sweeps, for it has these levels whole
};
/// Nothing without multigrid. As if every unit had rows of all levels that are not small.
SharedCycle shared_cycle(const Problem& problem, const Numerics& numerics);

/// How often units synchronise in a step with so many iterations, none of which ends early.
SyncCounts step_syncs(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// Predicted cost of time steps.
struct Prediction {
  std::vector<PerPart<double>> unit_s;  ///< seconds of every slot's own sweeps, of each part once
  SyncCosts costs;
  bool by_channels = false;  ///< whether a platform says these costs, instead of the sample
  Iterations sampled;        ///< of a step of the sample; a run may need more or fewer
  std::string failure;       ///< why nothing is predicted: a linear solver that failed in the sample

  StepPhases step(const Problem& problem, const Numerics& numerics, const Iterations& iterations) const {
    return step_phases(step_calls(problem, numerics, iterations), unit_s, step_syncs(problem, numerics, iterations),
                       costs);
  }
  /// Every slot's own seconds in such a step.
  std::vector<double> unit_step_s(const PerPart<double>& calls) const;
};

/// The phases of every slot's unit, on all ranks. Collective.
std::vector<StepPhases> gather_phases(const Frame& frame, const FlowTimes& times);
/// Of the unit whose own sweeps take longest, and which therefore waits least.
const StepPhases& busiest(const std::vector<StepPhases>& units);

/// Times a few steps of all units together, in a cavity of the same cells which is as high as the slots' rows or, where
/// those are many, as what no cache holds: work is in proportion to rows then. Synchronisations cost what they cost in
/// the sample or, with `--platform`, what that says of the ranks' channels. Collective.
/// @param rows of every slot @param start that the sample starts from where it has all rows, otherwise from rest
Prediction predict(Frame& frame, const Problem& problem, const Numerics& numerics,
                   const std::vector<std::int64_t>& rows, const FlowState& start);

}  // namespace steelyard::cavity
