#pragma once

#include "partition/algorithms.hpp"

namespace steelyard::partition {

/// `algorithm` where computation units are only given away in multiples of `granularity`, such as the tile of a kernel:
/// it distributes total / granularity pieces over models of pieces.
/// @throws InvalidArgument as the algorithm does, and unless granularity >= 1 divides the total
Distribution distribute_in_multiples(std::int64_t total, Models models, const Algorithm& algorithm,
                                     std::int64_t granularity);

}  // namespace steelyard::partition
