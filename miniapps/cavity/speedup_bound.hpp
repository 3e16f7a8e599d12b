#pragma once

namespace steelyard::cavity {

/// How much faster than with an even split a run can be: S_exec = (S_comp + r_f) / (1 + r_f), where S_comp is the same
/// of computation alone, as speed models say, and r_f is communication over computation of the balanced run, whose
/// communication counts for both. Source: 000, section 5.3.4.
struct SpeedupBound {
  double computation = 1.0;    ///< S_comp
  double communication = 0.0;  ///< r_f

  double execution() const { return (computation + communication) / (1.0 + communication); }
};

}  // namespace steelyard::cavity
