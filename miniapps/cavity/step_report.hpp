#pragma once

#include <vector>

#include "miniapps/cavity/solve_report.hpp"

namespace steelyard::cavity {

/// One time step, the same on all ranks.
struct StepReport {
  SolveReport momentum;
  std::vector<SolveReport> pressure;  ///< of each corrector
  double mass_imbalance = 0.0;  ///< largest net flux out of a cell, over lid speed times the longer edge of a cell
  double change = 0.0;          ///< largest change of a velocity in the step, over the time step
};

}  // namespace steelyard::cavity
