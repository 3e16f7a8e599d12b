#include "miniapps/cavity/solvers/solve_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace steelyard::cavity {

std::string to_string(SolveOutcome outcome) {
  constexpr std::array words{"converged", "did not converge within the iterations allowed", "stagnated", "broke down",
                             "met a number that is not finite"};
  return words.at(static_cast<std::size_t>(outcome));
}

SolveFailure::SolveFailure(const std::string& system, const SolveReport& report)
    : Error(
          fmt::format("{}: the solver {} (iterations {}, restarts {}, residual {:.3e}; expected a residual of at most "
                      "{:.3e})",
                      system, to_string(report.outcome), report.iterations, report.restarts, report.residual,
                      report.tolerance),
          ExitCode::failed) {}

void require_solved(const std::string& system, const SolveReport& report) {
  if (report.outcome != SolveOutcome::converged) throw SolveFailure(system, report);
}

SolveMonitor::SolveMonitor(const SolveSettings& settings, std::int64_t rows, std::int64_t columns)
    : settings_(settings),
      patience_(static_cast<int>(std::min<std::int64_t>(100 + 4 * (rows + columns), 1'000'000'000))) {}

bool SolveMonitor::should_iterate(double residual, double right_side) {
  seems_solved_ = false;
  report_.residual = best_ = residual;
  best_iteration_ = report_.iterations;
  if (!has_begun_) {
    has_begun_ = true;
    report_.right_side = right_side;
    report_.tolerance = settings_.relative * right_side + settings_.absolute;
    report_.initial_residual = last_true_ = residual;
    keep(residual);
  }
  if (settings_.fixed_iterations) return residual > 0.0 && report_.iterations < settings_.most_iterations;
  if (!std::isfinite(residual) || !std::isfinite(report_.right_side)) return fail(SolveOutcome::not_finite);
  if (residual <= report_.tolerance) return false;
  if (report_.iterations >= settings_.most_iterations) return fail(SolveOutcome::too_many_iterations);
  return true;
}

bool SolveMonitor::should_continue(double residual) {
  ++report_.iterations;
  report_.residual = residual;
  keep(residual);
  if (settings_.fixed_iterations) {
    seems_solved_ = report_.iterations >= settings_.most_iterations;
    return residual > 0.0 && !seems_solved_;
  }
  if (!std::isfinite(residual)) return fail(SolveOutcome::not_finite);
  seems_solved_ = residual <= report_.tolerance;
  if (seems_solved_) return false;
  if (report_.iterations >= settings_.most_iterations) return fail(SolveOutcome::too_many_iterations);
  if (residual <= least_progress * best_) {
    best_ = residual;
    best_iteration_ = report_.iterations;
  } else if (report_.iterations - best_iteration_ >= patience_) {
    return fail(SolveOutcome::stagnated);
  }
  return true;
}

bool SolveMonitor::should_restart(double true_residual) {
  report_.residual = true_residual;
  if (settings_.fixed_iterations) return false;
  if (!std::isfinite(true_residual)) return fail(SolveOutcome::not_finite);
  if (true_residual <= slack * report_.tolerance) return false;
  const bool helps = true_residual <= least_restart_progress * last_true_;
  last_true_ = true_residual;
  return helps ? count_restart(SolveOutcome::stagnated) : fail(SolveOutcome::stagnated);
}

bool SolveMonitor::should_restart_after_breakdown(double divisor) {
  if (settings_.fixed_iterations) return false;
  return std::isfinite(divisor) ? count_restart(SolveOutcome::broke_down) : fail(SolveOutcome::not_finite);
}

void SolveMonitor::end_with_zero() {
  report_.residual = 0.0;
  keep(0.0);
}

bool SolveMonitor::fail(SolveOutcome outcome) {
  end(outcome);
  return false;
}

bool SolveMonitor::count_restart(SolveOutcome otherwise) {
  if (report_.restarts >= settings_.most_restarts) return fail(otherwise);
  ++report_.restarts;
  return true;
}

void SolveMonitor::keep(double residual) {
  if (settings_.keep_history) report_.history.push_back(residual);
}

}  // namespace steelyard::cavity
