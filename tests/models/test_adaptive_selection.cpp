#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "core/base/errors.hpp"
#include "models/kinds/piecewise_linear_model.hpp"
#include "models/size_selection.hpp"

namespace steelyard::test_adaptive_selection {

using namespace steelyard::models;

namespace {

using Speed = std::function<double(double units)>;
using Points = std::vector<MeasuredPoint>;

MeasuredPoint measure(const Speed& speed, std::int64_t size, double noise, std::mt19937_64& random) {
  const auto units = static_cast<double>(size);
  // What a measurement that stops at this precision leaves: normal, within the half width at 95 %.
  const double factor = noise > 0.0 ? std::normal_distribution<double>(1.0, noise / 2.0)(random) : 1.0;
  const double time_s = units / speed(units) * factor;
  return {units, time_s, 10, noise * time_s};
}

void insert(Points& points, const MeasuredPoint& point) {
  points.insert(std::lower_bound(points.begin(), points.end(), point,
                                 [](const MeasuredPoint& a, const MeasuredPoint& b) { return a.units < b.units; }),
                point);
}

/// Largest deviation from the truth, over whole sizes.
double largest_error(const Points& points, const Speed& speed) {
  const PiecewiseLinearModel model(points, Shape::as_measured);
  double largest = 0.0;
  for (double units = points.front().units; units <= points.back().units; units += 1.0) {
    largest = std::max(largest, std::abs(model.speed(units) / speed(units) - 1.0));
  }
  return largest;
}

Points adaptive_points(const AdaptiveGoal& goal, const Speed& speed, double noise = 0.0) {
  std::mt19937_64 random(7);
  std::vector<Points> units(1);
  for (const std::int64_t size : first_sizes(goal)) insert(units[0], measure(speed, size, noise, random));
  while (const auto gap = least_certain_gap(goal, units)) {
    insert(units[0], measure(speed, gap->next, noise, random));
    REQUIRE(units[0].size() < 1000);
  }
  return units[0];
}

/// Points that equal or geometric steps need for the same error.
int points_needed(const AdaptiveGoal& goal, const Speed& speed, double error,
                  std::vector<std::int64_t> (*sizes)(std::int64_t, std::int64_t, int)) {
  std::mt19937_64 random(8);
  for (int count = 3;; count += 1 + count / 20) {
    Points points;
    for (const std::int64_t size : sizes(goal.smallest, goal.largest, count)) {
      points.push_back(measure(speed, size, 0.0, random));
    }
    if (largest_error(points, speed) <= error || count > 5000) return count;
  }
}

/// A kernel that takes 2 us to start and falls from cache speed to memory speed around `edge`, within `width` of it.
Speed cliff(double edge, double width, double drop) {
  return [=](double units) {
    const double fallen = std::clamp((units - edge) / (width * edge) + 0.5, 0.0, 1.0);
    return units / (2e-6 + units / (1e6 * (1.0 - drop * fallen)));
  };
}

}  // namespace

TEST_CASE("with a cache cliff, adaptive points need three times fewer than a sweep for the same error") {
  const double edge = GENERATE(100.0, 300.0, 900.0);
  const double width = GENERATE(0.1, 0.2);
  const double drop = GENERATE(0.4, 0.7);
  const AdaptiveGoal goal{16, 8192, 0.03, 0.01};
  const Speed speed = cliff(edge, width, drop);
  const Points adaptive = adaptive_points(goal, speed);
  const double error = largest_error(adaptive, speed);
  const int linear = points_needed(goal, speed, goal.error, linear_sizes);
  INFO("cliff at " << edge << ", width " << width << ", drop " << drop << ": " << adaptive.size()
                   << " adaptive points, error " << error << "; " << linear << " linear, "
                   << points_needed(goal, speed, goal.error, geometric_sizes) << " geometric");
  CHECK(error <= goal.error);
  CHECK(3 * adaptive.size() <= static_cast<std::size_t>(linear));
}

TEST_CASE("noise within the confidence intervals is not chased") {
  const AdaptiveGoal goal{16, 8192, 0.05, 0.01};
  const Speed speed = cliff(GENERATE(100.0, 300.0, 900.0), 0.2, 0.5);
  const Points exact = adaptive_points(goal, speed);
  const Points noisy = adaptive_points(goal, speed, 0.02);
  INFO(exact.size() << " points without noise, " << noisy.size() << " with; error " << largest_error(noisy, speed));
  CHECK(noisy.size() <= 2 * exact.size());
  CHECK(largest_error(noisy, speed) <= goal.error + 0.02);
}

TEST_CASE("where the goal is met nothing is to be measured, and a kernel of one speed needs no more than the start") {
  const AdaptiveGoal goal{1, 1000000, 0.02, 0.01};
  CHECK(adaptive_points(goal, [](double) { return 5.0; }).size() == first_sizes(goal).size());
}

TEST_CASE("of several units the least certain one decides, and the size lies inside its gap") {
  std::mt19937_64 random(9);
  const AdaptiveGoal goal{16, 4096, 0.03, 0.01};
  const Speed flat = [](double) { return 1000.0; };
  const Speed fallen = cliff(500.0, 0.1, 0.6);
  std::vector<Points> units(2);
  for (const std::int64_t size : first_sizes(goal)) {
    insert(units[0], measure(flat, size, 0.0, random));
    insert(units[1], measure(fallen, size, 0.0, random));
  }
  const auto gap = least_certain_gap(goal, units);
  REQUIRE(gap);
  const std::vector<Points> alone{units[1]};
  CHECK(least_certain_gap(goal, alone)->next == gap->next);
  CHECK(static_cast<double>(gap->next) > gap->left);
  CHECK(static_cast<double>(gap->next) < gap->right);
  CHECK(gap->error > goal.error);
}

TEST_CASE("a jump is located to the resolution and then left alone") {
  const double resolution = GENERATE(0.0, 0.01, 0.1);
  const AdaptiveGoal goal{1, 4096, 0.05, resolution};
  const Speed jump = [](double units) { return units < 1000.5 ? 100.0 : 50.0; };
  const Points points = adaptive_points(goal, jump);
  const auto right = std::find_if(points.begin(), points.end(), [](const auto& point) { return point.units > 1000.0; });
  const auto left = right - 1;
  CHECK(right->units - left->units <= std::max(1.0, resolution * left->units));
}

TEST_CASE("goals that mean nothing are refused with their values") {
  CHECK_THROWS_AS(first_sizes({0, 10, 0.1, 0.0}), InvalidArgument);
  CHECK_THROWS_AS(first_sizes({11, 10, 0.1, 0.0}), InvalidArgument);
  CHECK_THROWS_AS(first_sizes({1, 10, 0.0, 0.0}), InvalidArgument);
  CHECK_THROWS_AS(first_sizes({1, 10, std::nan(""), 0.0}), InvalidArgument);
  CHECK_THROWS_AS(least_certain_gap({1, 10, 0.1, -1.0}, {}), InvalidArgument);
}

}  // namespace steelyard::test_adaptive_selection
