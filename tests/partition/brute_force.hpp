#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "partition/time_table.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

constexpr double infinity = std::numeric_limits<double>::infinity();

inline std::int64_t sum(const std::vector<std::int64_t>& units) {
  return std::accumulate(units.begin(), units.end(), std::int64_t{0});
}

/// Times of any shape: whole seconds full of ties and zeros, or reals; growing, falling or wandering; of all sizes or
/// some, in steps or not.
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

/// A model of any kind; tables have whole sizes.
inline models::SpeedModelPtr any_model(Random& random, double most_units, double limit) {
  const auto kind = static_cast<Kind>(whole(random, 0, static_cast<int>(Kind::out_of_core)));
  if (kind != Kind::table) return random_model(random, kind, most_units, limit);
  std::vector<models::MeasuredPoint> points;
  for (models::MeasuredPoint& point : random_points(random, whole(random, 1, 12), most_units)) {
    point.units = std::ceil(point.units);
    if (points.empty() || point.units > points.back().units) points.push_back(point);
  }
  return model_of(points, kind, std::max(limit, points.front().units));
}

/// The least makespan of all splits, by one unit more each time; infinity where there is none.
inline double least_makespan_s(std::int64_t total, partition::TimeTables tables) {
  std::vector<double> least(static_cast<std::size_t>(total) + 1, infinity);
  least[0] = 0.0;
  for (const partition::TimeTable& table : tables) {
    std::vector<double> next = least;
    for (std::size_t units = 0; units < least.size(); ++units) {
      for (const auto& entry : table.entries) {
        const auto size = static_cast<std::size_t>(entry.units);
        if (size > units) break;
        next[units] = std::min(next[units], std::max(least[units - size], entry.time_s));
      }
    }
    least = std::move(next);
  }
  return least.back();
}

inline double least_makespan_s(std::int64_t total, partition::Models models) {
  std::vector<partition::TimeTable> tables;
  for (const models::SpeedModel* model : models) {
    partition::TimeTable& table = tables.emplace_back();
    for (std::int64_t units = 1; units <= total; ++units) {
      const auto size = static_cast<double>(units);
      if (size <= model->max_units()) table.entries.push_back({units, model->time_s(size)});
    }
  }
  return least_makespan_s(total, tables);
}

}  // namespace steelyard::tests
