#pragma once

#include <cstdint>
#include <vector>

namespace steelyard::models {

/// Sizes from `smallest` to `largest`, both included, with equal steps, or with equal ratios. Rounded to whole units,
/// increasing, `count` of them or fewer where rounding makes some equal.
/// @throws InvalidArgument unless 1 <= smallest <= largest and count >= 1 (>= 2 where the ends differ)
std::vector<std::int64_t> linear_sizes(std::int64_t smallest, std::int64_t largest, int count);
std::vector<std::int64_t> geometric_sizes(std::int64_t smallest, std::int64_t largest, int count);

}  // namespace steelyard::models
