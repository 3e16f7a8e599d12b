#pragma once

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Slices proportional to constant speeds, n_i / s_i = const, with s_i the model's speed at that number of units, or
/// at the most that the model holds where that is less. A unit whose proportional slice exceeds its memory gets what it
/// holds, and the others share the rest. Source: 000, section 2.4.2, CPM-based data partitioning.
/// @param at_units computation units, 0 for the even share @throws InvalidArgument as require_feasible()
Distribution constant(std::int64_t total, Models models, double at_units = 0.0);

}  // namespace steelyard::partition
