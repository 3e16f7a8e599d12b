#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/unit_grid.hpp"
#include "comm/unit_group.hpp"
#include "core/base/errors.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

template <class Execution>
class UnitFlow;

/// A linear system was not solved: how that ended, after how many iterations, its residual and what was expected.
class SolveFailure : public RuntimeFailure {
 public:
  using RuntimeFailure::RuntimeFailure;
};

/// The flow in a lid-driven cavity, its rows shared out among the units of all ranks: PISO in time, BiCGSTAB and CG.
/// Fields are the same bits however rows are shared out. Source: 000, sections 5.3.1-5.3.3.
class Flow {
 public:
  /// At rest. Collective. @param rows of every slot; a slot may own none
  Flow(std::unique_ptr<UnitGroup> group, const Problem& problem, const Numerics& numerics,
       std::span<const std::int64_t> rows);
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  const Problem& problem() const { return problem_; }
  /// How often units have met so far, as the unit counted that drives MPI.
  const UnitGroup::SyncCounts& sync_counts() const { return group_->sync_counts(); }

  /// Goes back to rest. Collective.
  void clear();
  /// Goes on from a state of the same grid, which every rank has. Collective.
  void load(const FlowState& state);
  /// The whole flow, on rank 0; elsewhere without values. Collective.
  FlowState gather();

  /// One time step. Collective. @param phases of the rank's units are added to; the rest is with the start of their
  /// programs @throws SolveFailure, on all ranks alike; the flow is unusable then
  StepReport step(PerUnit<StepPhases>& phases);

 private:
  Problem problem_;
  std::unique_ptr<UnitGroup> group_;
  SharedGrid grid_;
  Coefficients coefficients_;
  std::optional<MultigridLevels> multigrid_;
  UnitData<UnitFlow> units_;
  std::int64_t steps_ = 0;
  double time_ = 0.0;
};

/// Log of a repetition; the same on all ranks but for the phases, which are those of a rank's own units.
struct RunLog {
  std::int64_t steps = 0;
  std::int64_t momentum_iterations = 0;
  std::int64_t pressure_iterations = 0;
  double change = 0.0;          ///< in the last step, see StepReport
  double mass_imbalance = 0.0;  ///< the largest of all steps, see StepReport
  double mass_tolerance = 0.0;  ///< what the pressure solves allow for it, the largest of all steps
  bool steady = false;
  PerUnit<StepPhases> phases;

  /// Mean iterations of a step.
  Iterations iterations() const;
};

/// Steps until the run ends. Collective. @param go_on asked after each step with the steps so far, on all ranks; the
/// run ends where it says no @throws SolveFailure as Flow::step()
RunLog run_steps(Flow& flow, const RunEnd& end, const std::function<bool(std::int64_t)>& go_on = {});

/// Largest net flux out of a cell, over lid speed times a cell's longer edge; infinity where a value is not finite.
double net_flux(const Problem& problem, const FlowState& state);

/// Whether mass is conserved in every cell, in the last state, added up anew, and in every step as it was found then,
/// up to rounding and what the pressure solves allow, or what the first state has lost where there were no steps.
/// @param start which every rank has @param state of rank 0; others' is empty
FoundError check_mass(const Problem& problem, const FlowState& start, const FlowState& state, const RunLog& log);

}  // namespace steelyard::cavity
