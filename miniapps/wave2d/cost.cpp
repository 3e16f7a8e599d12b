#include "miniapps/wave2d/cost.hpp"

#include <algorithm>
#include <cstddef>

namespace steelyard::wave2d {

models::MessagePattern exchange_pattern(const std::vector<HaloMessage>& messages, std::span<const int> rank_of_unit,
                                        int ranks, double element_bytes) {
  models::MessagePattern pattern{"halo exchange", ranks, {{{}, models::Phase::Sends::at_once}}};
  for (const HaloMessage& message : messages) {
    const int from = rank_of_unit[static_cast<std::size_t>(message.from)];
    const int to = rank_of_unit[static_cast<std::size_t>(message.to)];
    if (from == to) continue;
    pattern.phases.front().messages.push_back({from, to, element_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

std::vector<EdgePoints> edge_points(const Problem& problem, std::span<const partition::Rectangle> rectangles,
                                    int steps) {
  std::vector<EdgePoints> points(rectangles.size());
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    for (const partition::Rectangle& part : cut_border(problem, rectangles[i], steps).border) {
      points[i].border += part.area();
    }
  }
  for (const HaloMessage& message : halo_messages(problem, rectangles, steps)) {
    points[static_cast<std::size_t>(message.from)].leaving += message.points();
    points[static_cast<std::size_t>(message.to)].arriving += message.points();
  }
  return points;
}

UnitTimes split_pass(double pass_s, std::int64_t owned_points, const EdgePoints& unit, const UnitTimes& sample,
                     const EdgePoints& sample_points) {
  const double squeeze = sample.begin_s() > pass_s ? pass_s / sample.begin_s() : 1.0;
  const auto scaled = [&](double seconds, std::int64_t points, std::int64_t of) {
    return of > 0 ? squeeze * seconds * static_cast<double>(points) / static_cast<double>(of) : 0.0;
  };
  UnitTimes times{scaled(sample.unpacking_s, unit.arriving, sample_points.arriving),
                  scaled(sample.border_s, unit.border, sample_points.border),
                  scaled(sample.packing_s, unit.leaving, sample_points.leaving), 0.0};
  const double interior_s = pass_s - squeeze * sample.begin_s();
  const std::int64_t interior_points = owned_points - sample_points.border;
  times.interior_s = interior_points > 0 ? interior_s * static_cast<double>(owned_points - unit.border) /
                                               static_cast<double>(interior_points)
                                         : interior_s;
  return times;
}

PassCost pass_cost(std::span<const int> rank_of_unit, std::span<const UnitTimes> units) {
  PassCost cost;
  for (std::size_t i = 0; i < units.size(); ++i) {
    cost.phases = slower(cost.phases, units[i]);
    cost.begin_s = std::max(cost.begin_s, units[i].begin_s());
    const bool drives = i == 0 || rank_of_unit[i] != rank_of_unit[i - 1];
    if (drives) cost.driving_s = std::max(cost.driving_s, units[i].interior_s);
  }
  return cost;
}

}  // namespace steelyard::wave2d
