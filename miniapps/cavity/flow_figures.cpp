#include "miniapps/cavity/flow_figures.hpp"

#include "miniapps/cavity/centre_lines.hpp"

namespace steelyard::cavity {

FlowFigures flow_figures(const Problem& problem, const FlowState& state) {
  const Streamfunction psi = streamfunction(problem, state);
  const Profile v = v_on_horizontal_centre_line(problem, state);
  return {primary_vortex(problem, psi), psi.closure_error(), u_on_vertical_centre_line(problem, state).minimum(),
          v.minimum(), v.maximum()};
}

}  // namespace steelyard::cavity
