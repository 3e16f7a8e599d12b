#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/measured_point.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Runs every unit's kernel on its slice, all units at the same time: one point per unit, of as many computation units
/// as asked for. What is returned for a unit without work does not count; another number of points, a point of another
/// size, and a time that is not finite and > 0 or an interval below 0 are refused (InvalidArgument).
using Measure = std::function<std::vector<models::MeasuredPoint>(std::span<const std::int64_t> units)>;

/// Why balancing ended.
enum class StopReason {
  balanced,           ///< all units with work take equally long, within eps
  settled,            ///< the next distribution is the current one, within eps; a search's bracket is closed
  within_spread,      ///< what could be gained is less than the spread of the measurements
  no_improvement,     ///< no step from the best distribution turned out faster
  single_step,        ///< the method takes one step, and took it
  measurement_limit,  ///< measured as often as allowed
};

/// In words, for a table or a message.
std::string to_string(StopReason reason);

/// Result of balancing.
struct Outcome {
  Distribution distribution;  ///< predictions are what was measured of it
  StopReason reason = StopReason::balanced;
  int measurements = 0;  ///< of all units at the same time
};

/// How often to measure.
struct Repetition {
  int most_rounds = 5;          ///< of a distribution whose comparison is within the spread
  int most_measurements = 100;  ///< of all distributions together
};

/// How a search for the dividing line between two units goes on and when it ends.
struct SearchOptions {
  std::int64_t resolution = 1;  ///< computation units within which the line is to be found
  Repetition repetition;
};

/// Balance inside a node: binary search for the dividing line between two units, such that their kernels take equally
/// long: whichever clearly takes less time gets more. Ends with one of the two lines about the balance (`settled`), or
/// as soon as the times cannot be told apart (`within_spread`, `balanced` where they are equal). Both ends of the last
/// bracket are measured once more, and left again where that shows that noise has led there: 003 found such runs stuck
/// (figure 7.32).
///
/// Takes about log2(total) measurements where each tells, provided that more work takes longer. Where it does not, any
/// of the lines with equal times may be found, but none that is clearly slower than the even one. Predictions are the
/// measured times. Source: 003, sections 2.6.2 and 4.1.1.
/// @throws InvalidArgument for a negative total, options below 1, points of other sizes, and what `measure` throws
Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options = {});

/// Runs a whole iteration, with everything that happens in it besides the kernels, with the given slices. The point's
/// size does not count.
using MeasureIteration = std::function<models::MeasuredPoint(std::span<const std::int64_t> units)>;

/// Balance inside a node: ternary search for the dividing line between two units with which a whole iteration takes
/// the least time, whether or not the kernels then take equally long. Of each two lines, at a third and two thirds of
/// the bracket, the clearly slower one and all beyond it are discarded. Where neither is clearly slower, both ends are,
/// if a line between is clearly faster, and otherwise the search ends (`within_spread`). The even line is measured
/// first; the result is the fastest of all lines that were measured, those within the spread of it after all rounds.
///
/// Takes about 2 log1.5(total) measurements where each tells. Exact without noise if the time is unimodal and not flat
/// anywhere but at its minimum. Predicts the iteration's time for each unit with work. Source: 003, section 2.6.2.
/// @throws InvalidArgument as equal_times_search()
Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options = {});

/// When balancing between nodes ends.
struct ThroughputOptions {
  double eps = 0.01;  ///< imbalance that is left alone; of the total that changes hands
  Repetition repetition;
};

/// Balance between nodes, in one step: measures an even split, and where the times clearly differ, distributes in
/// proportion to throughput, S_i = c_i / sum c_j with c_i = units / time, and measures that too. A node without work
/// has no throughput, and none after. Returns to the even split when it is not slower (`no_improvement`). Balances
/// exactly where speed does not depend on size; otherwise see iterative_calibration(). Source: 003, section 4.1.2,
/// equation 4.1.
/// @throws InvalidArgument for a negative total, no units, options out of range, and what `measure` throws
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
/// @throws InvalidArgument as throughput_balance()
Outcome iterative_calibration(std::int64_t total, std::size_t unit_count, const Measure& measure,
                              const ThroughputOptions& options = {});

}  // namespace steelyard::partition
