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
/// as asked for. What is returned for a unit without work does not count.
using Measure = std::function<std::vector<models::MeasuredPoint>(std::span<const std::int64_t> units)>;

/// Why balancing ended.
enum class StopReason {
  running,            ///< it has not
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
  Distribution distribution;  ///< predictions are what was measured of it, or what the partial models say
  StopReason reason = StopReason::running;
  int measurements = 0;  ///< of all units at the same time
};

/// Share of the total that changes hands: sum |after_i - before_i| / 2 / total, so that many small changes count; 0 of
/// no work.
double moved_share(std::span<const std::int64_t> before, std::span<const std::int64_t> after);

/// Where balancing starts: at `start`, or where it is empty with slices as equal as the limits allow.
/// @param max_units the most that each unit holds; empty: no limits
/// @throws InvalidArgument for a total that does not fit, no units, another number of limits, or a start that is no
/// distribution of the total or does not fit
std::vector<std::int64_t> start_or_even(std::int64_t total, std::size_t unit_count, std::span<const std::int64_t> start,
                                        std::span<const double> max_units);

}  // namespace steelyard::partition
