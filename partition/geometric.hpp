#pragma once

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Bisection by lines through the origin: a line of slope 1 / T meets the speed functions at the slices that all units
/// finish in T seconds; T is halved until the slices sum to `total`, then rounded so that the makespan stays least.
/// Exact for models whose time grows with size. Source: 000, section 2.4.2, figure 2.3.
/// @throws InvalidArgument as require_feasible(), and for what takes longer than numbers can say
Distribution geometric(std::int64_t total, Models models);

}  // namespace steelyard::partition
