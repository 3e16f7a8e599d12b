#pragma once

#include "partition/balancing/search_range.hpp"

namespace steelyard::partition {

/// Balance inside a node: binary search for the dividing line between two units, such that their kernels take equally
/// long: whichever clearly takes less time gets more. Ends with one of the two lines about the balance (`settled`), or
/// as soon as the times cannot be told apart (`within_spread`, `balanced` where they are equal). Both ends of the last
/// bracket are measured once more, and left again where that shows that noise has led there: 003 found such runs stuck
/// (figure 7.32).
///
/// Takes about log2(total) measurements where each tells, provided that more work takes longer. Where it does not, any
/// of the lines with equal times may be found, but none that is clearly slower than the even one. Predictions are the
/// measured times. Source: 003, sections 2.6.2 and 4.1.1.
/// @throws InvalidArgument as search_range(), for points of other sizes, and what `measure` throws
Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options = {});

}  // namespace steelyard::partition
