#pragma once

#include "partition/time_table.hpp"

namespace steelyard::partition {

/// Memory of HPOPTA about a node: how the workload is shared by processing units `level`, …, p - 1.
/// Source: 002, section 4, operation Save.
struct HpoptaMemory {
  std::size_t level = 0;
  std::int64_t workload = 0;  ///< of processing units `level`, …, p - 1 together
  std::int64_t units = 0;     ///< of these for processing unit `level`
  int last_examined = -1;     ///< index of `units` in the table sorted by time; -1 for zero units
  double time_s = 0.0;        ///< parallel time of processing units `level`, …, p - 1
  bool is_final = false;      ///< nothing faster is left to be found
  bool holds_solution = false;
};

/// A solution in the order in which HPOPTA finds them, each faster than the one before.
struct HpoptaSolution {
  std::vector<std::int64_t> units;
  double time_s = 0.0;                        ///< the time threshold tau from now on
  std::vector<std::int64_t> size_thresholds;  ///< sigma for this tau
  std::size_t slowest_level = 0;    ///< of the longest time, the nearest to the root: backtracks to its parent
  std::vector<HpoptaMemory> saved;  ///< levels 1, …, p - 2
};

struct HpoptaResult {
  Distribution distribution;
  /// The load-equal distribution first, infinitely slow where the tables do not allow it.
  std::vector<HpoptaSolution> solutions;
  bool complete = true;            ///< false where `most_nodes` ended the search: the distribution may not be optimal
  std::int64_t nodes = 0;          ///< invocations of the kernel (algorithm 2)
  std::int64_t cuts = 0;           ///< nodes above their level's size threshold
  std::int64_t memory_reads = 0;   ///< nodes that found a usable solution in memory
  std::int64_t memory_misses = 0;  ///< nodes that memory says cannot be faster than tau
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

/// Solves for models, tabulated at every size from 1 to `total`. @throws InvalidArgument as tabulate() and hpopta()
Distribution hpopta(std::int64_t total, Models models);

}  // namespace steelyard::partition
