#pragma once

#include "partition/search/bottleneck.hpp"

namespace steelyard::partition {

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
