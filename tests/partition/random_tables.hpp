#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "partition/time_table.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

/// Times of any shape: whole seconds full of ties and zeros, or reals; growing, falling or wandering.
inline partition::TimeTable random_table(Random& random, int most_units, double share_of_sizes = 1.0) {
  const int shape = whole(random, 0, 4);
  const double scale = uniform(random, 0.2, 5.0);
  const int step = whole(random, 0, 3) == 0 ? whole(random, 2, 4) : 1;
  partition::TimeTable table;
  for (int units = step; units <= most_units; units += step) {
    if (uniform(random, 0.0, 1.0) > share_of_sizes) continue;
    const double x = units;
    double time_s = 0.0;
    if (shape == 0) time_s = whole(random, 0, 6);
    if (shape == 1) time_s = x * scale * uniform(random, 0.3, 3.0);
    if (shape == 2) time_s = scale * (x + 0.05 * x * x);
    if (shape == 3) time_s = std::floor(x * scale * uniform(random, 0.7, 1.4));
    if (shape == 4) time_s = scale * (most_units - x) + uniform(random, 0.0, 1.0);
    table.entries.push_back({units, time_s});
  }
  return table;
}

inline std::vector<partition::TimeTable> random_tables(Random& random, int count, int most_units,
                                                       double share_of_sizes = 1.0) {
  std::vector<partition::TimeTable> tables;
  for (int i = 0; i < count; ++i) tables.push_back(random_table(random, most_units, share_of_sizes));
  return tables;
}

/// Every split of `total` that the tables allow.
inline void for_each_split(std::int64_t total, partition::TimeTables tables,
                           const std::function<void(const std::vector<std::int64_t>&, double)>& visit) {
  std::vector<std::int64_t> units(tables.size(), 0);
  const std::function<void(std::size_t, std::int64_t, double)> place = [&](std::size_t i, std::int64_t left,
                                                                           double makespan_s) {
    if (i == tables.size()) {
      if (left == 0) visit(units, makespan_s);
      return;
    }
    units[i] = 0;
    place(i + 1, left, makespan_s);
    for (const auto& entry : tables[i].entries) {
      if (entry.units > left) break;
      units[i] = entry.units;
      place(i + 1, left - entry.units, std::max(makespan_s, entry.time_s));
    }
  };
  place(0, total, 0.0);
}

/// The least makespan of all splits; infinity where there is none.
inline double least_makespan_s(std::int64_t total, partition::TimeTables tables) {
  double least = std::numeric_limits<double>::infinity();
  for_each_split(total, tables, [&](const auto&, double makespan_s) { least = std::min(least, makespan_s); });
  return least;
}

}  // namespace steelyard::tests
