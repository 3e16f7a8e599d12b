#include "miniapps/cavity/solve_failure.hpp"

#include <fmt/format.h>

namespace steelyard::cavity {
namespace {

std::string message(const std::string& system, const SolveReport& report) {
  return fmt::format(
      "{}: the solver {} (iterations {}, restarts {}, residual {:.3e}; expected a residual of at most {:.3e})", system,
      to_string(report.outcome), report.iterations, report.restarts, report.residual, report.tolerance);
}

}  // namespace

SolveFailure::SolveFailure(const std::string& system, const SolveReport& report)
    : Error(message(system, report), ExitCode::failed) {}

void require_solved(const std::string& system, const SolveReport& report) {
  if (report.outcome != SolveOutcome::converged) throw SolveFailure(system, report);
}

}  // namespace steelyard::cavity
