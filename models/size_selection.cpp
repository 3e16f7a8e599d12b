#include "models/size_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

void require_ends(std::int64_t smallest, std::int64_t largest) {
  if (smallest >= 1 && smallest <= largest) return;
  throw InvalidArgument(fmt::format("sizes from {} to {} (expected 1 <= from <= to)", smallest, largest));
}

/// Half width of a point's confidence interval, in units per second.
double speed_confidence(const MeasuredPoint& point) { return point.speed() * point.confidence_s / point.time_s; }

struct Miss {
  double speed = 0.0;      ///< units per second
  double neighbour = 0.0;  ///< length of the neighbouring gap
};

/// How far the line from `outer` through `near`, continued, misses the middle between `near` and `far`, less what noise
/// explains. A line tells little about sizes further away than it is long, so it is continued no further.
Miss continued_line(const MeasuredPoint& outer, const MeasuredPoint& near, const MeasuredPoint& far) {
  const double gap = std::abs(far.units - near.units);
  const double neighbour = std::abs(near.units - outer.units);
  const double reach = std::min(0.5 * gap, neighbour);
  const double beyond = reach / neighbour;
  const double inside = reach / gap;
  const double miss = std::abs((near.speed() - outer.speed()) * beyond - (far.speed() - near.speed()) * inside);
  const double noise = std::hypot((beyond + inside) * speed_confidence(near), beyond * speed_confidence(outer),
                                  inside * speed_confidence(far));
  return {std::max(0.0, miss - noise), neighbour};
}

/// A whole size strictly inside the gap, or nothing where it is too narrow.
std::optional<std::int64_t> split(double left, double right, double from_left, double from_right) {
  constexpr double resolution = 0.01;  // sizes closer than this share count as one: a jump is located no better
  if (right - left < std::max(2.0, resolution * left)) return std::nullopt;
  double size = left >= 0.25 * right ? 0.5 * (left + right) : std::sqrt(left * right);
  // Beside a short gap the question is what happens right there.
  size = std::clamp(size, std::max(left, right - 2.0 * from_right), std::min(right, left + 2.0 * from_left));
  return std::clamp(std::llround(size), static_cast<long long>(left) + 1, static_cast<long long>(right) - 1);
}

/// The gap from points[i] to points[i + 1]; nothing where it cannot be split.
std::optional<UncertainGap> examine(Points points, std::size_t i) {
  const MeasuredPoint &left = points[i], &right = points[i + 1];
  const double gap = right.units - left.units;
  const Miss from_left = i > 0 ? continued_line(points[i - 1], left, right) : Miss{0.0, gap};
  const Miss from_right = i + 2 < points.size() ? continued_line(points[i + 2], right, left) : Miss{0.0, gap};
  const bool left_is_worse = from_left.speed >= from_right.speed;
  const auto next = split(left.units, right.units, left_is_worse ? from_left.neighbour : gap,
                          left_is_worse ? gap : from_right.neighbour);
  if (!next) return std::nullopt;
  const double slowest = std::min(left.speed(), right.speed());
  return UncertainGap{left.units, right.units, std::max(from_left.speed, from_right.speed) / slowest, *next};
}

void require_goal(const AdaptiveGoal& goal) {
  require_ends(goal.smallest, goal.largest);
  if (!(goal.error > 0.0 && goal.error < 1.0)) {
    throw InvalidArgument(fmt::format("error {} (expected a share between 0 and 1)", goal.error));
  }
}

}  // namespace

std::vector<std::int64_t> geometric_sizes(std::int64_t smallest, std::int64_t largest, int count) {
  require_ends(smallest, largest);
  if (count < 1 || (count == 1 && smallest != largest)) {
    throw InvalidArgument(fmt::format("{} sizes from {} to {} (expected at least {})", count, smallest, largest,
                                      smallest == largest ? 1 : 2));
  }
  const double ratio = static_cast<double>(largest) / static_cast<double>(smallest);
  std::vector<std::int64_t> sizes{smallest};
  for (int i = 1; i + 1 < count; ++i) {
    const double size = static_cast<double>(smallest) * std::pow(ratio, static_cast<double>(i) / (count - 1));
    const std::int64_t next = std::clamp<std::int64_t>(std::llround(size), smallest, largest);
    if (next > sizes.back()) sizes.push_back(next);
  }
  if (largest > sizes.back()) sizes.push_back(largest);
  return sizes;
}

std::vector<std::int64_t> first_sizes(const AdaptiveGoal& goal) {
  require_goal(goal);
  constexpr int fewest = 5;
  const double ratio = static_cast<double>(goal.largest) / static_cast<double>(goal.smallest);
  return geometric_sizes(goal.smallest, goal.largest,
                         std::max(fewest, 1 + static_cast<int>(std::ceil(std::log(ratio) / std::log(4.0)))));
}

std::optional<UncertainGap> least_certain_gap(const AdaptiveGoal& goal,
                                              std::span<const std::vector<MeasuredPoint>> units) {
  require_goal(goal);
  std::optional<UncertainGap> worst;
  for (const std::vector<MeasuredPoint>& points : units) {
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const std::optional<UncertainGap> gap = examine(points, i);
      if (!gap) continue;
      const MeasuredPoint &left = points[i], &right = points[i + 1];
      // The ends' own noise uses up part of what the goal allows, but never more than half.
      const double noise = std::max(left.confidence_s / left.time_s, right.confidence_s / right.time_s);
      const bool is_certain = gap->error <= goal.error - std::min(noise, 0.5 * goal.error);
      if (!is_certain && (!worst || gap->error > worst->error)) worst = gap;
    }
  }
  return worst;
}

}  // namespace steelyard::models
