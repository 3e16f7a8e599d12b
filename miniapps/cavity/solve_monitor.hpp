#pragma once

#include <cstdint>

#include "miniapps/cavity/solve_report.hpp"

namespace steelyard::cavity {

/// Watches a linear solver's residuals and decides when it has done enough, and when it does not get anywhere. Solvers
/// update residuals by recurrences, which rounding lets drift from b - A x: what they call solved counts only once the
/// true residual, computed from x, says so too; otherwise they begin again from it, as long as that brings it down.
class SolveMonitor {
 public:
  /// What the true residual may exceed the tolerance by, where the recurrence's does not.
  static constexpr double slack = 1.1;
  /// Stagnation is a best residual that has not come down by this factor within patience() iterations.
  static constexpr double least_progress = 0.9;
  /// Restarts that leave more than this part of the true residual do not help.
  static constexpr double least_restart_progress = 0.5;

  /// @param rows,columns of the grid, which a Krylov solver needs as many iterations to cross
  SolveMonitor(const SolveSettings& settings, std::int64_t rows, std::int64_t columns);

  /// Iterations are to begin, or to begin again, from a true residual. @return whether they are needed and make sense
  bool begins(double residual, double right_side);
  /// Counts an iteration. @param residual after it, as the recurrence says. @return whether to go on
  bool goes_on(double residual);
  /// Where goes_on() said no: whether that was because the residual is small enough.
  bool seems_solved() const { return seems_solved_; }
  /// Takes the true residual of what seems solved. @return whether to begin again from there
  bool begins_again(double true_residual);
  /// Something to divide by has vanished, or is not finite. @return whether to begin again, in another way
  bool begins_again_after_breakdown(double divisor);
  /// The end, for a reason that the solver found.
  void ends(SolveOutcome outcome) { report_.outcome = outcome; }

  /// b and the tolerance are 0, so that the solution is as well, and nothing else would do.
  bool solution_is_zero() const { return report_.tolerance == 0.0 && report_.right_side == 0.0; }
  /// The solver has set x to 0 for that.
  void has_zeroed();

  double tolerance() const { return report_.tolerance; }
  int patience() const { return patience_; }
  const SolveReport& report() const { return report_; }

 private:
  bool restarts(SolveOutcome otherwise);

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
