#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard::cavity {

/// When a linear solver has done enough: |b - A x|_2 <= relative |b|_2 + absolute.
struct SolveSettings {
  double relative = 1e-8;
  double absolute = 0.0;
  int most_iterations = 1000;
  int most_restarts = 10;     ///< after breakdowns, and where the recurrence's residual has left the true one
  bool keep_history = false;  ///< of residuals
  /// Makes `most_iterations`, fewer only where nothing is left of the residual, and calls the system solved.
  bool fixed_iterations = false;
};

/// In the order of the words in to_string().
enum class SolveOutcome { converged, too_many_iterations, stagnated, broke_down, not_finite };
/// For messages.
std::string to_string(SolveOutcome outcome);

/// How a linear solver got on; the same on all units.
struct SolveReport {
  SolveOutcome outcome = SolveOutcome::converged;
  int iterations = 0;
  int restarts = 0;
  double right_side = 0.0;        ///< |b|_2
  double tolerance = 0.0;         ///< what the residual had to come down to
  double initial_residual = 0.0;  ///< |b - A x_0|_2
  double residual = 0.0;          ///< at the end: where converged the true one, otherwise the recurrence's
  /// The recurrence's residual after every iteration, the initial one first; where asked for.
  std::vector<double> history;
};

/// A linear system was not solved: how that ended, after how many iterations, its residual and what was expected.
class SolveFailure : public Error {
 public:
  /// @param system what was to be solved and by what, for the message
  SolveFailure(const std::string& system, const SolveReport& report);
};

/// Reports are the same on all units, so that all of them throw or none.
/// @throws SolveFailure where the solver did not converge
void require_solved(const std::string& system, const SolveReport& report);

/// Watches a linear solver's residuals and decides when it has done enough, and when it does not get anywhere. Solvers
/// update residuals by recurrences, which rounding lets drift from b - A x: what they call solved counts only once the
/// true residual, computed from x, says so too; otherwise they restart from it, as long as that brings it down.
class SolveMonitor {
 public:
  /// Factor by which the true residual may exceed the tolerance where the recurrence's does not.
  static constexpr double slack = 1.1;
  /// Stagnation is a best residual that has not come down by this factor within patience() iterations.
  static constexpr double least_progress = 0.9;
  /// Restarts that leave more than this part of the true residual do not help.
  static constexpr double least_restart_progress = 0.5;

  /// @param rows,columns of the grid, which a Krylov solver needs as many iterations to cross
  SolveMonitor(const SolveSettings& settings, std::int64_t rows, std::int64_t columns);

  /// Whether iterations from a true residual are needed and make sense, at the start and after a restart.
  bool should_iterate(double residual, double right_side);
  /// Counts an iteration. @param residual after it, by the recurrence
  bool should_continue(double residual);
  /// Where should_continue() was false: whether the recurrence's residual is small enough.
  bool seems_solved() const { return seems_solved_; }
  /// Whether to restart from the true residual of what seems solved.
  bool should_restart(double true_residual);
  /// Whether to restart in another way, where a divisor has vanished or is not finite.
  bool should_restart_after_breakdown(double divisor);
  /// Ends the solve for a reason that the solver found.
  void end(SolveOutcome outcome) {
    if (!settings_.fixed_iterations) report_.outcome = outcome;
  }

  /// Whether b and the tolerance are 0, so that only x = 0 solves the system.
  bool solution_is_zero() const { return report_.tolerance == 0.0 && report_.right_side == 0.0; }
  /// To be called where the solver has set x to 0 for that.
  void end_with_zero();

  double tolerance() const { return report_.tolerance; }
  int patience() const { return patience_; }
  const SolveReport& report() const { return report_; }

 private:
  bool fail(SolveOutcome outcome);
  bool count_restart(SolveOutcome otherwise);
  void keep(double residual);

  SolveSettings settings_;
  int patience_;
  SolveReport report_;
  bool has_begun_ = false;
  bool seems_solved_ = false;
  double best_ = 0.0;  ///< residual at the last progress
  int best_iteration_ = 0;
  double last_true_ = 0.0;
};

}  // namespace steelyard::cavity
