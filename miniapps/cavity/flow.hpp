#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/shared_grid.hpp"
#include "comm/slots.hpp"
#include "comm/unit_group.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// What a rank spent on time steps.
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

/// Time steps of one unit alone, of a cavity of its own, each from rest; their parts are those of StepPhases::work_s.
/// check_run() makes one from `start` instead, and returns its u, v and p.
std::unique_ptr<KernelRun> make_step_run(ProcessingUnit::Kind kind, const Problem& problem, const Numerics& numerics,
                                         const FlowState& start);

}  // namespace steelyard::cavity
