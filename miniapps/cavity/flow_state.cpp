#include "miniapps/cavity/flow_state.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::cavity {

void require_flow_of(const Problem& problem, const FlowState& state) {
  if (problem.rows < 1 || problem.columns < 1 || !(problem.height > 0.0) || !std::isfinite(problem.height)) {
    throw InvalidArgument(fmt::format("cavity of height {} with {} x {} cells (expected a height > 0 and sizes >= 1)",
                                      problem.height, problem.rows, problem.columns));
  }
  if (state.rows != problem.rows || state.columns != problem.columns) {
    throw InvalidArgument(fmt::format("flow on {} x {} cells (expected the problem's {} x {})", state.rows,
                                      state.columns, problem.rows, problem.columns));
  }
  const auto cells = static_cast<std::size_t>(state.rows * state.columns);
  for (const auto* field : {&state.u, &state.v, &state.p, &state.u_before, &state.v_before}) {
    if (field->size() != cells) {
      throw InvalidArgument(fmt::format("flow on {} x {} cells with a field of {} values (expected {})", state.rows,
                                        state.columns, field->size(), cells));
    }
  }
}

}  // namespace steelyard::cavity
