#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Discrete times of one processing unit: the sizes that it may get and what each takes. Nothing (0 computation units,
/// 0 s) may always be chosen and is not listed; a size that is not listed cannot be chosen. Times need not grow with
/// size. Source: 002, section 3 (the discrete speed functions S, as times x / s(x)).
struct TimeTable {
  struct Entry {
    std::int64_t units = 0;
    double time_s = 0.0;
  };
  std::vector<Entry> entries;  ///< sizes > 0 and strictly increasing, times >= 0 and finite

  /// Seconds for a listed size, 0 for 0, infinity for any other.
  double time_s(std::int64_t units) const;
};

/// One table per processing unit, in the order of the units.
using TimeTables = std::span<const TimeTable>;

/// Times of a model at 1, 2, … up to min(total, max_units()), without the sizes whose time is not finite (not measured,
/// or does not fit). @throws InvalidArgument for a negative total
TimeTable tabulate(const models::SpeedModel& model, std::int64_t total);

/// One table per model. @throws InvalidArgument as require_feasible(), and where the tables would be so large (2^27
/// entries together) that multiples of a granularity are called for
std::vector<TimeTable> tabulate(Models models, std::int64_t total);

/// Checks the input of every algorithm on tables.
/// @throws InvalidArgument for a negative total, no tables, a table that is not as TimeTable says, or a total larger
/// than the largest sizes together
void require_feasible(std::int64_t total, TimeTables tables);

/// The error of a total that no sizes in the tables sum to.
InvalidArgument no_split(std::int64_t total, TimeTables tables);

/// A split with the times that the tables give. @throws InvalidArgument unless there is one table per entry
Distribution predict(std::vector<std::int64_t> units, TimeTables tables);

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

struct HpoptaResult {
  Distribution distribution;
  bool complete = true;    ///< false where `most_nodes` ended the search: the distribution may not be optimal
  std::int64_t nodes = 0;  ///< invocations of the kernel (algorithm 2)
};

/// HPOPTA as published: depth-first search of the tree of all distributions, each processing unit's sizes in order of
/// time, with the operations Cut, Save, Backtrack and ReadMemory. Minimises max_i t_i(x_i) subject to sum_i x_i =
/// total. Source: 002, sections 4-5, algorithms 1-2. Where the text leaves it open (the supplement is not at hand):
/// - A load-equal distribution that the tables do not allow counts as infinitely slow.
/// - A remembered solution that is not final and not faster than tau resumes at its last examined index.
/// - Memory is indexed by workload / g, with g the greatest common divisor of the total and all sizes.
/// Memory O(p (m + total / g)). The paper proves O(m^3 p^3); nodes that are not final can be resumed more often.
/// @param most_nodes ends the search after that many nodes; 0 for no limit
/// @throws InvalidArgument as require_feasible(), and where no sum of sizes is `total`
/// @throws RuntimeFailure when `most_nodes` ends the search before any solution is found
HpoptaResult hpopta(std::int64_t total, TimeTables tables, std::int64_t most_nodes = 0);

}  // namespace steelyard::partition
