#include "miniapps/cavity/solve_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::cavity {

SolveMonitor::SolveMonitor(const SolveSettings& settings, std::int64_t rows, std::int64_t columns)
    : settings_(settings),
      patience_(static_cast<int>(std::min<std::int64_t>(100 + 4 * (rows + columns), 1'000'000'000))) {}

bool SolveMonitor::begins(double residual, double right_side) {
  seems_solved_ = false;
  report_.residual = residual;
  best_ = residual;
  best_iteration_ = report_.iterations;
  if (!has_begun_) {
    has_begun_ = true;
    report_.right_side = right_side;
    report_.tolerance = settings_.relative * right_side + settings_.absolute;
    report_.initial_residual = residual;
    last_true_ = residual;
    if (settings_.keep_history) report_.history.push_back(residual);
  }
  if (!std::isfinite(residual) || !std::isfinite(report_.right_side)) {
    ends(SolveOutcome::not_finite);
    return false;
  }
  if (residual <= report_.tolerance) return false;
  if (report_.iterations >= settings_.most_iterations) {
    ends(SolveOutcome::too_many_iterations);
    return false;
  }
  return true;
}

bool SolveMonitor::goes_on(double residual) {
  ++report_.iterations;
  report_.residual = residual;
  if (settings_.keep_history) report_.history.push_back(residual);
  if (!std::isfinite(residual)) {
    ends(SolveOutcome::not_finite);
    return false;
  }
  if (residual <= report_.tolerance) {
    seems_solved_ = true;
    return false;
  }
  if (report_.iterations >= settings_.most_iterations) {
    ends(SolveOutcome::too_many_iterations);
    return false;
  }
  if (residual <= least_progress * best_) {
    best_ = residual;
    best_iteration_ = report_.iterations;
  } else if (report_.iterations - best_iteration_ >= patience_) {
    ends(SolveOutcome::stagnated);
    return false;
  }
  return true;
}

bool SolveMonitor::begins_again(double true_residual) {
  report_.residual = true_residual;
  if (!std::isfinite(true_residual)) {
    ends(SolveOutcome::not_finite);
    return false;
  }
  if (true_residual <= slack * report_.tolerance) return false;
  const bool helps = true_residual <= least_restart_progress * last_true_;
  last_true_ = true_residual;
  if (!helps) {
    ends(SolveOutcome::stagnated);
    return false;
  }
  return restarts(SolveOutcome::stagnated);
}

bool SolveMonitor::begins_again_after_breakdown(double divisor) {
  if (!std::isfinite(divisor)) {
    ends(SolveOutcome::not_finite);
    return false;
  }
  return restarts(SolveOutcome::broke_down);
}

bool SolveMonitor::restarts(SolveOutcome otherwise) {
  if (report_.restarts >= settings_.most_restarts) {
    ends(otherwise);
    return false;
  }
  ++report_.restarts;
  return true;
}

void SolveMonitor::has_zeroed() {
  report_.residual = 0.0;
  if (settings_.keep_history) report_.history.push_back(0.0);
}

}  // namespace steelyard::cavity
