#pragma once

#include <span>
#include <vector>

#include "partition/balancing/outcome.hpp"

namespace steelyard::partition {

/// Where to start, and what to leave alone.
struct ThroughputOptions {
  double eps = 0.01;  ///< imbalance that is left alone; of the total that changes hands
  Repetition repetition;
  std::vector<std::int64_t> start;  ///< empty: even
  std::vector<double> max_units;    ///< the most that each unit holds; empty: no limits
};

/// Slices proportional to the measured throughput, S_i = c_i / sum c_j with c_i = units / time. A unit whose memory
/// limits its slice gets what it holds, and the others share the rest; one without work has no throughput, and none
/// after. Predicts the time at this throughput. Source: 003, equation 4.1.
/// @param max_units the most that each unit holds; empty: no limits
/// @throws InvalidArgument for points without any work, and for a total that does not fit
Distribution proportional_to_throughput(std::int64_t total, std::span<const models::MeasuredPoint> points,
                                        std::span<const double> max_units = {});

/// Balance between nodes, in one step: measures at the start, and where the times clearly differ, distributes in
/// proportion to throughput and measures that too. Returns to the start when it is not slower (`no_improvement`).
/// Balances exactly where speed does not depend on size; otherwise see iterative_calibration().
/// Source: 003, section 4.1.2.
/// @throws InvalidArgument for a total that does not fit, options out of range, and what `measure` throws
Outcome throughput_balance(std::int64_t total, std::size_t unit_count, const Measure& measure,
                           const ThroughputOptions& options = {});

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
