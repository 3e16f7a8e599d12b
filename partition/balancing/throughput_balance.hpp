#pragma once

#include <span>
#include <vector>

#include "partition/balancing/repeated_measurement.hpp"

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

}  // namespace steelyard::partition
