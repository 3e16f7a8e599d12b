#pragma once

#include "partition/search/bottleneck.hpp"

namespace steelyard::partition {

/// Answer of search_core().
struct CoreSearch {
  std::optional<std::vector<std::int64_t>> split;  ///< nothing where there is none within the budget, or work ran out
  std::int64_t work = 0;                           ///< steps taken
};

/// The choices that sum to `total` and whose costs sum to the least, if that is at most `budget`; of several the
/// lexicographically greatest. Every processing unit has a choice of cost 0; units that have just one choice within
/// the budget take no part. Dynamic programme over (sum, least cost) from the last unit to the first.
/// @param most_work steps (sums times choices, and width of the range of sums) after which it gives up; memory is at
///        most 16 bytes for each of min(most_work, 2^24) states
CoreSearch search_core(std::int64_t total, const Choices& choices, std::int64_t budget, std::int64_t most_work);

/// Answer of least_total().
struct LeastTotal {
  std::vector<std::int64_t> units;
  bool is_least = false;      ///< proven: no choices that sum to the total cost less
  double excess_bound = 0.0;  ///< at most this much dearer than the least; 0 where `is_least`
};

/// One choice per processing unit so that sizes sum to `total` and costs sum to as little as possible: a
/// multiple-choice knapsack with equality, and among the cheapest the lexicographically greatest distribution.
///
/// The lower convex hulls give the best Lagrangian multiplier lambda (cost per computation unit). Every choice then
/// has a reduced cost r_i(x) = c_i(x) - lambda x - min_x' (c_i(x') - lambda x') >= 0, and a distribution costs the
/// Lagrangian bound plus its reduced costs. So the distributions within a budget G of reduced costs use choices with
/// r_i <= G only, and a dynamic programme over those few (the core) finds the best or shows that there is none;
/// G grows, doubling the core, until there is one. It is then optimal. `most_work` steps of the programme end that;
/// then the distribution with the smallest largest reduced cost is taken, within the bound that is reported.
/// Ends by proof wherever some distribution has reduced costs of zero only (found by sets of sums, whatever the size),
/// and for all inputs with 4 p m total <= most_work and p total <= 2^24 (the programme's memory).
/// @param choices sizes at least one per unit, sum reachable; costs at least 0 and such
///        that p (largest size) (largest cost) < 2^60
/// @throws InvalidArgument where no choices sum to `total`
LeastTotal least_total(std::int64_t total, const Choices& choices, std::int64_t most_work);

}  // namespace steelyard::partition
