#pragma once

#include <span>
#include <string>

#include "partition/distribution.hpp"

namespace steelyard::partition {

/// A one-dimensional partitioning algorithm under the name that the command line uses.
struct Algorithm {
  std::string name;
  std::string description;  ///< one line
  Distribution (*distribute)(std::int64_t total, Models models);
};

/// Every algorithm, in the order of `steelyard partition --list`.
std::span<const Algorithm> algorithms();

/// @throws InvalidArgument naming the algorithms that there are
const Algorithm& find_algorithm(const std::string& name);

}  // namespace steelyard::partition
