#pragma once

#include "miniapps/app/verification.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/run_log.hpp"

namespace steelyard::cavity {

/// Largest net flux out of a cell, over lid speed times a cell's longer edge; infinity where a velocity or pressure is
/// not finite.
double net_flux(const Problem& problem, const FlowState& state);

/// Whether mass is conserved in every cell, in the state after the last step, added up anew, and in every step as it
/// was found then: the tolerance is what the pressure solves allow, and rounding. @param state of rank 0; others' is
/// empty
FoundError check_mass(const Problem& problem, const FlowState& state, const RunLog& log);

}  // namespace steelyard::cavity
