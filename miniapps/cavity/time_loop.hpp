#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "miniapps/app/verification.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// What happened in a repetition; the same on all ranks but for the times, which are a rank's own.
struct RunLog {
  std::int64_t steps = 0;
  std::int64_t momentum_iterations = 0;
  std::int64_t pressure_iterations = 0;
  std::int64_t restarts = 0;
  double change = 0.0;          ///< in the last step, see StepReport
  double mass_imbalance = 0.0;  ///< the largest of all steps, likewise
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

}  // namespace steelyard::cavity
