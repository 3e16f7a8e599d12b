#pragma once

#include <functional>
#include <span>
#include <string>

#include "models/shape.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// A one-dimensional partitioning algorithm under the name that the command line uses.
struct Algorithm {
  std::string name;
  std::string description;  ///< one line
  std::function<Distribution(std::int64_t total, Models models)> distribute;
  /// Kind and shape of the models that it asks for; it works on others too.
  std::string model_kind = "piecewise_linear";
  models::Shape shape = models::Shape::increasing_time;
  double constant_at = 0.0;  ///< computation units at which constant speeds are taken; 0: nothing of that kind
};

/// Every algorithm, in the order of `steelyard partition --list`.
std::span<const Algorithm> algorithms();

/// One of them, or with numbers behind the name:
/// - `constant:N`, proportional to the speeds at N computation units: the papers' CPM;
/// - `shares:A:B:...`, in proportion to these numbers, one for each processing unit, whatever the models say.
/// @param others that a caller has besides, for the message, such as `, or dynamic`
/// @throws InvalidArgument naming the algorithms that there are
Algorithm find_algorithm(const std::string& name, const std::string& others = "");

/// `constant:N`. @throws InvalidArgument unless N > 0
Algorithm constant_at(double units);

}  // namespace steelyard::partition
