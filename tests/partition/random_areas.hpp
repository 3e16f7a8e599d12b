#pragma once

#include <cmath>
#include <vector>

#include "partition/rectangles/column.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

/// Speeds that differ by up to a factor of a hundred, some alike and some 0, at least one of them not.
inline std::vector<double> random_areas(Random& random, int count) {
  std::vector<double> areas;
  for (int i = 0; i < count; ++i) {
    const int kind = whole(random, 0, 9);
    areas.push_back(kind == 0 ? 0.0 : kind < 4 ? whole(random, 1, 3) : std::exp(uniform(random, -2.3, 2.3)));
  }
  areas[static_cast<std::size_t>(whole(random, 0, count - 1))] = 1.0;
  return areas;
}

inline partition::Extents random_extents(Random& random, int most) {
  return {whole(random, 1, most), whole(random, 1, most)};
}

}  // namespace steelyard::tests
