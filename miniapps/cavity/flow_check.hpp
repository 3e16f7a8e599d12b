#pragma once

#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// What analyses and files ask of a flow before they read it.
/// @throws InvalidArgument unless the grid has rows, columns and a height, the flow is on it and all of its fields have
/// a value in each cell
void require_flow_of(const Problem& problem, const FlowState& state);

}  // namespace steelyard::cavity
