#pragma once

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Numerical solution of t_1(x_1) = … = t_p(x_p), x_1 + … + x_p = total on speed functions of any shape that are smooth
/// between the models' breakpoints, in whole sizes. Source: 000, section 6.1.4 (fupermod_partition_multiroot) and
/// equation 2.1.
///
/// Equal times are what is asked for, the least makespan is what is meant; they differ where a time falls with size. So
/// the sizes are eliminated and the common time T is solved for (solve_common_time()); where the sizes that units do
/// within T jump past the total, the unit that jumps takes T and the others less (split_by_common_times()). Where that
/// fails, T is bisected further with the sums of all ranges of sizes within T (split_in_ranges()).
///
/// Guaranteed: sums are exact, and the makespan is the least of all splits, so never above that of geometric(), if
/// TimeProfile finds all turning points of the times and sums do not break up into more ranges than split_in_ranges()
/// keeps. It finds them all where times turn only at breakpoints (constant, piecewise linear, table); for smooth speeds
/// none has been seen to be missed. Where a model's own units_within() does know of a larger size than its profile, the
/// faster of this and geometric() is returned. Units whose least time exceeds the makespan get nothing. Other than the
/// makespan, times are not equalised where split_in_ranges() was needed. Costs a few dozen evaluations per unit beyond
/// those of TimeProfile.
/// @throws InvalidArgument as require_feasible(), and where tables of sizes allow no such sum
Distribution numerical(std::int64_t total, Models models);

}  // namespace steelyard::partition
