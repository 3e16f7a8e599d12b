#pragma once

#include "partition/time_table.hpp"

namespace steelyard::partition {

/// The least makespan of identical processors: min max_i t(x_i) subject to x_1 + … + x_p = total, every x_i in the one
/// table or 0. Equal loads are not assumed: where times fall with size, unequal ones are faster. Bisects over the times
/// that occur; within a time, p sizes sum to the total or not, which takes about 2 log2 p sumsets instead of one per
/// processor. Sizes count in steps of their greatest common divisor. The larger slices come first.
/// Source: 002, section 6.3 (POPTA as cited there), for clusters of identical nodes.
/// @param processors >= 1
/// @throws InvalidArgument as require_feasible(), for a total above 2^27 steps, and where no sum of sizes is `total`
Distribution popta(std::int64_t total, const TimeTable& table, std::int64_t processors);

/// Solves for models, tabulated at every size from 1 to `total`. It cannot be among algorithms(), which take any
/// models, but is of their signature. @throws InvalidArgument where models are not the same (see same_model()) and as
/// above
Distribution popta(std::int64_t total, Models models);

}  // namespace steelyard::partition
