#include "miniapps/cavity/solve_report.hpp"

namespace steelyard::cavity {

std::string to_string(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::converged:
      return "converged";
    case SolveOutcome::too_many_iterations:
      return "did not converge within the iterations allowed";
    case SolveOutcome::stagnated:
      return "stagnated";
    case SolveOutcome::broke_down:
      return "broke down";
    case SolveOutcome::not_finite:
      return "met a number that is not finite";
  }
  return "unknown";
}

}  // namespace steelyard::cavity
