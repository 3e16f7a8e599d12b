#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "partition/distribution.hpp"

namespace steelyard::tests {

/// Every split of `total` over the models that fits into their memory.
inline void for_each_split(std::int64_t total, partition::Models models,
                           const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> units(models.size(), 0);
  const std::function<void(std::size_t, std::int64_t)> place = [&](std::size_t index, std::int64_t left) {
    const bool last = index + 1 == models.size();
    for (std::int64_t slice = last ? left : 0; slice <= left; ++slice) {
      if (static_cast<double>(slice) > models[index]->max_units()) return;
      units[index] = slice;
      if (last) {
        visit(units);
      } else {
        place(index + 1, left - slice);
      }
    }
  };
  place(0, total);
}

/// The least makespan of all splits; infinity where none fits.
inline double least_makespan_s(std::int64_t total, partition::Models models) {
  std::vector<std::vector<double>> time_s(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (std::int64_t slice = 0; slice <= total; ++slice) {
      time_s[i].push_back(models[i]->time_s(static_cast<double>(slice)));
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for_each_split(total, models, [&](const std::vector<std::int64_t>& units) {
    double makespan = 0.0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      makespan = std::max(makespan, time_s[i][static_cast<std::size_t>(units[i])]);
    }
    least = std::min(least, makespan);
  });
  return least;
}

}  // namespace steelyard::tests
