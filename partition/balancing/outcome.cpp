#include "partition/balancing/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"
#include "partition/geometric.hpp"

namespace steelyard::partition {

std::string to_string(StopReason reason) {
  switch (reason) {
    case StopReason::running:
      return "still running";
    case StopReason::balanced:
      return "all units take equally long";
    case StopReason::settled:
      return "the distribution no longer changes";
    case StopReason::within_spread:
      return "differences are within the measurements' spread";
    case StopReason::no_improvement:
      return "no step is faster";
    case StopReason::single_step:
      return "took its one step";
    case StopReason::measurement_limit:
      return "measured as often as allowed";
  }
  return "unknown";
}

double moved_share(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
  if (before.size() != after.size()) {
    throw InvalidArgument(fmt::format("{} slices and {} to compare (expected as many)", before.size(), after.size()));
  }
  double total = 0.0;
  double moved = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    total += static_cast<double>(before[i]);
    moved += std::abs(static_cast<double>(after[i] - before[i]));
  }
  return total > 0.0 ? 0.5 * moved / total : 0.0;
}

std::vector<std::int64_t> start_or_even(std::int64_t total, std::size_t unit_count, std::span<const std::int64_t> start,
                                        std::span<const double> max_units) {
  if (!max_units.empty() && max_units.size() != unit_count) {
    throw InvalidArgument(
        fmt::format("{} memory limits for {} processing units (expected as many)", max_units.size(), unit_count));
  }
  // Units of equal speed: what one cannot hold is shared by the others.
  std::vector<models::ConstantModel> equal;
  for (std::size_t i = 0; i < unit_count; ++i) {
    equal.emplace_back(1.0, max_units.empty() ? std::numeric_limits<double>::infinity() : max_units[i]);
  }
  std::vector<const models::SpeedModel*> pointers;
  for (const models::ConstantModel& model : equal) pointers.push_back(&model);
  std::vector<std::int64_t> even = geometric(total, pointers).units;
  if (start.empty()) return even;

  if (start.size() != unit_count || std::ranges::any_of(start, [](std::int64_t slice) { return slice < 0; }) ||
      std::accumulate(start.begin(), start.end(), std::int64_t{0}) != total) {
    throw InvalidArgument(fmt::format("the start is no distribution of {} computation units over {} processing units",
                                      total, unit_count));
  }
  for (std::size_t i = 0; i < unit_count; ++i) {
    if (!equal[i].fits(static_cast<double>(start[i]))) {
      throw InvalidArgument(fmt::format("the start gives {} computation units to unit {}, which holds {}", start[i], i,
                                        equal[i].max_units()));
    }
  }
  return {start.begin(), start.end()};
}

}  // namespace steelyard::partition
