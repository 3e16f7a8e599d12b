#include "partition/algorithms.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/errors.hpp"
#include "partition/constant.hpp"
#include "partition/even.hpp"
#include "partition/exact.hpp"
#include "partition/geometric.hpp"
#include "partition/hpopta.hpp"
#include "partition/numerical.hpp"

namespace steelyard::partition {

std::span<const Algorithm> algorithms() {
  static const std::array<Algorithm, 6> all{{
      {"even", "the same number for every processing unit", even},
      {"constant", "proportional to the speed at the even share (CPM)", constant},
      {"geometric", "equal times by bisection with lines through the origin (FPM)", geometric},
      {"numerical", "equal times by root finding, for smooth speeds of any shape (multiroot)", numerical, "akima"},
      {"hpopta", "least makespan for any shape of speed by tree search as published (HPOPTA)", hpopta,
       "piecewise_linear", models::Shape::as_measured},
      {"exact", "least makespan for any shape of speed in polynomial time, then least total time", exact, "shrunk",
       models::Shape::as_measured},
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
