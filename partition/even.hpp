#pragma once

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Gives everyone an equal number; the first `total mod p` units get one more. Models only predict.
/// @throws InvalidArgument as require_feasible(), and for a unit that cannot hold its share
Distribution even(std::int64_t total, Models models);

}  // namespace steelyard::partition
