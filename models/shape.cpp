#include "models/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

using Points = std::span<const MeasuredPoint>;
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
/// Share of a speed that may be rounding: a constant speed falls, and a straight rise is concave, all the same.
constexpr double rounding = 1e-12;

/// Marks a longest subsequence of points whose times strictly increase.
std::vector<bool> longest_increasing_time(Points points) {
  std::vector<std::size_t> tails;  // tails[k]: index that ends the best subsequence of length k + 1
  std::vector<std::size_t> before(points.size(), none);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto place = std::lower_bound(tails.begin(), tails.end(), points[i].time_s,
                                        [&](std::size_t tail, double time) { return points[tail].time_s < time; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<bool> kept(points.size(), false);
  for (std::size_t i = tails.back(); i != none; i = before[i]) kept[i] = true;
  return kept;
}

/// Longest falling branches: `count[i]` points from i on whose speed never grows, the next one being `next[i]`.
struct Falling {
  std::vector<int> count;
  std::vector<std::size_t> next;

  explicit Falling(Points points) : count(points.size(), 1), next(points.size(), none) {
    for (std::size_t i = points.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < points.size(); ++j) {
        if (falls(points[i], points[j]) && count[j] + 1 > count[i]) {
          count[i] = count[j] + 1;
          next[i] = j;
        }
      }
    }
  }

  static bool falls(const MeasuredPoint& left, const MeasuredPoint& right) {
    return right.speed() <= left.speed() * (1.0 + rounding) && right.time_s > left.time_s;
  }
};

/// Longest rising concave branches, by their last two points: the chain that ends with the step from i to j.
class Rising {
 public:
  explicit Rising(Points points) : points_(points), steps_(points.size()) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        if (rises(i, j)) steps_[j].push_back(longest_step(i, j));
      }
      // By slope, steepest first, each knowing the longest chain among those at least as steep: what a next step from j
      // may follow.
      std::sort(steps_[j].begin(), steps_[j].end(),
                [](const Step& a, const Step& b) { return a.steepest > b.steepest; });
      for (std::size_t k = 1; k < steps_[j].size(); ++k) {
        Step& step = steps_[j][k];
        step.best = step.count > steps_[j][step_before(j, k)].count ? k : step_before(j, k);
      }
    }
  }

  /// Points of the longest chain that ends in j.
  int count(std::size_t j) const { return steps_[j].empty() ? 1 : steps_[j][steps_[j].back().best].count; }

  void mark(std::size_t j, std::vector<bool>& kept) const {
    kept[j] = true;
    std::size_t step = steps_[j].empty() ? none : steps_[j].back().best;
    while (step != none) {
      const Step& taken = steps_[j][step];
      j = taken.from;
      step = taken.before;
      kept[j] = true;
    }
  }

 private:
  struct Step {
    std::size_t from = 0;
    double steepest = 0.0;      ///< slope that it may have, given rounding
    int count = 2;              ///< points of the chain
    std::size_t before = none;  ///< place, among the steps into `from`, of the one before
    std::size_t best = 0;       ///< place of the longest among those at least as steep
  };

  std::size_t step_before(std::size_t j, std::size_t k) const { return steps_[j][k - 1].best; }

  bool rises(std::size_t i, std::size_t j) const {
    return points_[j].speed() > points_[i].speed() && points_[j].time_s > points_[i].time_s;
  }

  Step longest_step(std::size_t i, std::size_t j) const {
    Step step;
    step.from = i;
    const double gap = points_[j].units - points_[i].units;
    const double slope = (points_[j].speed() - points_[i].speed()) / gap;
    const double uncertainty = rounding * points_[j].speed() / gap;
    step.steepest = slope + uncertainty;
    const auto flatter = std::partition_point(steps_[i].begin(), steps_[i].end(), [&](const Step& earlier) {
      return earlier.steepest >= slope - uncertainty;
    });
    if (flatter != steps_[i].begin()) {
      step.before = (flatter - 1)->best;
      step.count = steps_[i][step.before].count + 1;
    }
    return step;
  }

  Points points_;
  std::vector<std::vector<Step>> steps_;
};

std::vector<bool> longest_unimodal(Points points) {
  const Falling falling(points);
  const Rising rising(points);
  std::size_t peak = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (rising.count(i) + falling.count[i] > rising.count(peak) + falling.count[peak]) peak = i;
  }
  std::vector<bool> kept(points.size(), false);
  rising.mark(peak, kept);
  for (std::size_t i = peak; i != none; i = falling.next[i]) kept[i] = true;
  return kept;
}

}  // namespace

std::string shape_name(Shape shape) {
  return shape == Shape::as_measured ? "as_measured" : shape == Shape::unimodal ? "unimodal" : "increasing_time";
}

Shape parse_shape(const std::string& name) {
  for (const Shape shape : {Shape::as_measured, Shape::increasing_time, Shape::unimodal}) {
    if (name == shape_name(shape)) return shape;
  }
  throw InvalidArgument(fmt::format("shape \"{}\" (expected as_measured, increasing_time or unimodal)", name));
}

std::vector<bool> points_in_shape(Points points, Shape shape) {
  if (shape == Shape::as_measured) return std::vector<bool>(points.size(), true);
  return shape == Shape::unimodal ? longest_unimodal(points) : longest_increasing_time(points);
}

}  // namespace steelyard::models
