#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/unit_grid.hpp"
#include "comm/unit_group.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Seconds that a rank spent on time steps.
struct FlowTimes {
  PerUnit<StepPhases> units;          ///< the rest is with the start of the units' programs
  UnitGroup::SyncCounts sync_counts;  ///< as the unit counted that drives MPI
};

template <class Execution>
class UnitFlow;

/// The flow in a lid-driven cavity, its rows shared out among the units of all ranks: PISO in time, conjugate gradients
/// for pressure, BiCGSTAB for momentum. Fields are the same bits however rows are shared out. Source: 000, sections
/// 5.3.1-5.3.3.
class Flow {
 public:
  /// At rest. Collective. @param rows of every slot; a slot may own none
  /// @throws InvalidArgument
  Flow(const Session& session, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots,
       const Problem& problem, const Numerics& numerics, std::span<const std::int64_t> rows);
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Goes on from a state of the same grid, which every rank has. Collective.
  void load(const FlowState& state);
  /// The whole flow, on rank 0; elsewhere without values. Collective.
  FlowState gather();

  std::int64_t steps() const { return steps_; }
  double time() const { return time_; }

  /// One time step. Collective. @param times is added to
  /// @throws SolveFailure, on all ranks alike, where a linear solver fails; the flow is unusable then
  StepReport step(FlowTimes& times);

 private:
  Problem problem_;
  UnitGroup group_;
  SharedGrid grid_;
  Coefficients coefficients_;
  std::optional<MultigridLevels> multigrid_;
  UnitData<UnitFlow> units_;
  std::int64_t steps_ = 0;
  double time_ = 0.0;
};

/// Log of a repetition; the same on all ranks but for the times, which are a rank's own.
struct RunLog {
  std::int64_t steps = 0;
  std::int64_t momentum_iterations = 0;
  std::int64_t pressure_iterations = 0;
  std::int64_t restarts = 0;
  double change = 0.0;          ///< in the last step, see StepReport
  double mass_imbalance = 0.0;  ///< the largest of all steps, see StepReport
  double mass_tolerance = 0.0;  ///< what the pressure solves allow for it, the largest of all steps
  bool steady = false;
  FlowTimes times;
  std::vector<StepReport> reports;  ///< of every step, where asked for
};

/// Steps until the run ends. Collective. @param pressure how its systems are solved
/// @param go_on asked after each step with the steps so far, on all ranks; the run ends where it says no
/// @throws SolveFailure as Flow::step()
RunLog run_steps(Flow& flow, const Problem& problem, const SolveSettings& pressure, const RunEnd& end,
                 bool keep_reports, const std::function<bool(std::int64_t)>& go_on = {});

/// Largest net flux out of a cell, over lid speed times a cell's longer edge; infinity where a velocity or pressure is
/// not finite.
double net_flux(const Problem& problem, const FlowState& state);

/// Whether mass is conserved in every cell, in the state after the last step, added up anew, and in every step as it
/// was found then: the tolerance is what the pressure solves allow, and rounding. After no steps it is what the first
/// state has lost, for that is not the run's fault. @param start which every rank has @param state of rank 0; others'
/// is empty
FoundError check_mass(const Problem& problem, const FlowState& start, const FlowState& state, const RunLog& log);

/// Time steps of one unit alone, of a cavity of its own, each from rest; their parts are those of StepPhases::work_s.
/// check_run() makes one from `start` instead, and returns its u, v and p.
std::unique_ptr<KernelRun> make_step_run(ProcessingUnit::Kind kind, const Problem& problem, const Numerics& numerics,
                                         const FlowState& start);

}  // namespace steelyard::cavity
