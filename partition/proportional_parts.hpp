#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::partition {

/// Whole parts of `total` in proportion to `shares`: each the exact quota, total share_i / (sum of shares), rounded
/// down or up, and the sum is exactly `total`. Rounds up where (whole + 1) seconds_per_part_i is least, so that the
/// longest of parts_i seconds_per_part_i is least among all such roundings; ties go to the lower index, a share of 0
/// gets nothing.
/// @param shares not negative, one above 0 @param seconds_per_part as many, in any unit of time
std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part);

}  // namespace steelyard::partition
