#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Gives everyone an equal number; the first `total mod p` units get one more. Models only predict.
/// @throws InvalidArgument as require_feasible(), and for a unit that cannot hold its share
Distribution even(std::int64_t total, Models models);

/// Slices proportional to constant speeds, n_i / s_i = const, with s_i the model's speed at that number of units, or
/// at the most that the model holds where that is less. A unit whose proportional slice exceeds its memory gets what it
/// holds, and the others share the rest. Source: 000, section 2.4.2, CPM-based data partitioning.
/// @param at_units computation units, 0 for the even share @throws InvalidArgument as require_feasible()
Distribution constant(std::int64_t total, Models models, double at_units = 0.0);

/// Whole parts of `total` in proportion to `shares`: each the exact quota, total share_i / (sum of shares), rounded
/// down or up, and the sum is exactly `total`. Rounds up where (whole + 1) seconds_per_part_i is least, so that the
/// longest of parts_i seconds_per_part_i is least among all such roundings; ties go to the lower index, a share of 0
/// gets nothing.
/// @param shares not negative, one above 0 @param seconds_per_part as many, in any unit of time
std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part);

}  // namespace steelyard::partition
