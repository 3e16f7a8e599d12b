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

}  // namespace steelyard::partition
