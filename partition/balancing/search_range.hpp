#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "partition/balancing/repeated_measurement.hpp"

namespace steelyard::partition {

/// How a search for the dividing line between two units goes on and when it ends.
struct SearchOptions {
  std::int64_t resolution = 1;  ///< computation units within which the line is to be found
  Repetition repetition;
  std::array<double, 2> max_units = {std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};  ///< the most that each of the two holds
};

/// Sizes of the first unit such that both slices fit: from `least` to `most`.
struct SearchRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t even = 0;  ///< the even share, or what is nearest to it
};

/// @throws InvalidArgument for a total that does not fit, a resolution < 1, or unusable repetitions
SearchRange search_range(std::int64_t total, const SearchOptions& options);

}  // namespace steelyard::partition
