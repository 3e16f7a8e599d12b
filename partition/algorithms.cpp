#include "partition/algorithms.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/errors.hpp"
#include "partition/constant.hpp"
#include "partition/even.hpp"
#include "partition/geometric.hpp"
#include "partition/numerical.hpp"

namespace steelyard::partition {

std::span<const Algorithm> algorithms() {
  static const std::array<Algorithm, 4> all{{
      {"even", "the same number for every processing unit", even},
      {"constant", "proportional to the speed at the even share (CPM)", constant},
      {"geometric", "equal times by bisection with lines through the origin (FPM)", geometric},
      {"numerical", "equal times by root finding, for smooth speeds of any shape (multiroot)", numerical},
  }};
  return all;
}

const Algorithm& find_algorithm(const std::string& name) {
  std::string names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
    names += (names.empty() ? "" : ", ") + algorithm.name;
  }
  throw InvalidArgument(fmt::format("partition \"{}\" is unknown (expected one of {})", name, names));
}

}  // namespace steelyard::partition
