#pragma once

#include <span>
#include <string>

#include "models/shape.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// A one-dimensional partitioning algorithm under the name that the command line uses.
struct Algorithm {
  std::string name;
  std::string description;  ///< one line
  Distribution (*distribute)(std::int64_t total, Models models);
  /// Kind and shape of the models that it asks for; it works on others too.
  std::string model_kind = "piecewise_linear";
  models::Shape shape = models::Shape::increasing_time;
};

/// Every algorithm, in the order of `steelyard partition --list`.
std::span<const Algorithm> algorithms();

/// @throws InvalidArgument naming the algorithms that there are
const Algorithm& find_algorithm(const std::string& name);

}  // namespace steelyard::partition
