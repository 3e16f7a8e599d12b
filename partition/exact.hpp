#pragma once

#include "partition/time_table.hpp"

namespace steelyard::partition {

struct ExactResult {
  Distribution distribution;
  double total_time_s = 0.0;         ///< sum of all units' times
  bool total_time_is_least = false;  ///< proven among all distributions with this makespan
  double total_time_excess_s = 0.0;  ///< at most this much above the least; 0 where proven
};

/// The least makespan of any tables, min max_i t_i(x_i) subject to sum_i x_i = total, x_i in table i or 0: the problem
/// HPOPT of 002, section 3, in polynomial time, by bisection over the times that occur and sets of sums (SumSet).
/// Times may fall with size, repeat and be zero, sizes may be missing. Worst case
/// O(sum_i m_i log(sum_i m_i) total / (64 g)) word operations, with g the greatest common divisor of all sizes;
/// on measured tables close to O(sum_i m_i log(sum_i m_i)).
///
/// Among the distributions with the least makespan it takes one with the least total time sum_i t_i(x_i), among those
/// the lexicographically greatest, so that lower indices get more. For that, times count in whole ticks, rounded to
/// nearest, so that the answer does not depend on the machine: a tick is 2^-b of the power of two above the makespan,
/// with b = 60 less the bits of (largest size / g) and of p, at most 52 (40 for p = 1000 and sizes up to 1000). The
/// least makespan is always exact; that the total time is the least is proven for all small inputs
/// (4 p m total / g <= most_work, p total / g <= 2^24) and for most large ones; not, for example, for a thousand equal
/// units whose times are affine or concave and where some have to stay below the others. There the result says so, and
/// by how much it may be off; the split is then still the same on every machine, but of several of equal total time it
/// need not be the lexicographically greatest.
/// @param most_work steps of the search for the least total time before it settles for a bound; about a nanosecond each
/// @throws InvalidArgument as require_feasible(), and where no sum of sizes is `total`
ExactResult exact(std::int64_t total, TimeTables tables, std::int64_t most_work = 300'000'000);

/// Solves for models, tabulated at every size from 1 to `total`. @throws InvalidArgument as tabulate() and exact()
Distribution exact(std::int64_t total, Models models);

}  // namespace steelyard::partition
