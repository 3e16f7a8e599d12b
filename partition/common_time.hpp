#pragma once

#include <optional>
#include <span>
#include <vector>

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

}  // namespace steelyard::partition
