#pragma once

#include <optional>
#include <span>
#include <vector>

#include "partition/distribution.hpp"
#include "partition/time_profile.hpp"

namespace steelyard::partition {

/// One profile per processing unit, in the order of the units; not owned.
using TimeProfiles = std::span<const TimeProfile* const>;

/// A time within which all units together can do a total, if each does as much as it can, and a shorter one in which
/// they cannot. The sizes are those of the least such time.
struct CommonTime {
  double time_s = 0.0;
  double before_s = 0.0;                   ///< the largest time found that does not suffice
  std::vector<std::int64_t> units;         ///< largest sizes within `time_s`, together at least the total
  std::vector<std::int64_t> units_before;  ///< largest sizes within `before_s`, together less than the total
};

/// Solves x_1(T) + … + x_p(T) = total for T, where x_i(T) is the largest size, at most the total, with t_i(x_i) <= T:
/// 000, equation 2.1, with the sizes eliminated. Root finder: algorithm 748 of Alefeld, Potra and Shi, which keeps a
/// bracket. It ends where the sizes sum to the total, and that split has the least makespan; where the sum jumps past
/// the total, with two neighbouring numbers `before_s` and `time_s`, and no split has a makespan below `time_s` then.
/// @param within_s a time that suffices
/// @return nothing where `within_s` does not suffice
std::optional<CommonTime> solve_common_time(std::int64_t total, TimeProfiles profiles, double within_s);

/// A split whose makespan is as small as that of solve_common_time() for the total, where sizes are found by repeating
/// it: where the sum of sizes jumps past the total, as many of the units that jump keep their sizes after the jump as
/// it takes, and the others solve for what is left, in less time. Nothing where too little is left for them.
/// @param least_s is set to the bound: no split is faster
std::optional<std::vector<std::int64_t>> split_by_common_times(std::int64_t total, TimeProfiles profiles,
                                                               double within_s, double& least_s);

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
