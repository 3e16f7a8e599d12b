#pragma once

#include <string>
#include <vector>

namespace steelyard::cavity {

/// When a linear solver has done enough: |b - A x|_2 <= relative |b|_2 + absolute.
struct SolveSettings {
  double relative = 1e-8;
  double absolute = 0.0;
  int most_iterations = 1000;
  int most_restarts = 10;     ///< after breakdowns, and where the recurrence's residual has left the true one
  bool keep_history = false;  ///< of residuals
};

enum class SolveOutcome { converged, too_many_iterations, stagnated, broke_down, not_finite };
/// In words, for messages.
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
  std::vector<double>
      history;  ///< the recurrence's residual after every iteration, the initial one first; where asked for
};

}  // namespace steelyard::cavity
