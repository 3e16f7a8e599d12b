#pragma once

#include "partition/balancing/throughput_balance.hpp"

namespace steelyard::partition {

/// Balance between nodes whose throughput depends on the size of their slices: balance by throughput, again and again,
/// each time with the throughput at the sizes that the last step led to; `measure` is expected to balance every node
/// inside first (equal_times_search() or iteration_time_search() over its slice) and returns the nodes' times after
/// that. A step that is clearly slower is halved until it is not, or too small to matter (`no_improvement`); one
/// that is neither clearly faster nor slower is the last (`within_spread`). The result is the best distribution that
/// was measured. Source: 003, section 8.2 (Iterative Calibration: adjust the sizes and rerun the calibration to see if
/// the results are better).
///
/// Without noise every step taken is faster than the one before, so it ends; it ends balanced where time grows
/// with size and any imbalance can be reduced by moving in proportion to throughput, however little.
/// @throws InvalidArgument for a total that does not fit, options out of range, and what `measure` throws
Outcome iterative_calibration(std::int64_t total, std::size_t unit_count, const Measure& measure,
                              const ThroughputOptions& options = {});

/// The distribution halfway between two of the same total, rounded towards `from`; its sum is exact.
std::vector<std::int64_t> halfway(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

}  // namespace steelyard::partition
