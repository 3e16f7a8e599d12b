#include <functional>

#include "models/kinds/model_kinds.hpp"
#include "models/size_selection.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_size_selection {

using namespace steelyard::models;
using tests::Random;
using tests::whole;
using Points = std::vector<MeasuredPoint>;
using Sizes = std::vector<std::int64_t>;
using Speed = std::function<double(double units)>;

namespace {

MeasuredPoint measure(const Speed& speed, std::int64_t size, double noise, Random& random) {
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
  Random random(7);
  std::vector<Points> units(1);
  for (const std::int64_t size : first_sizes(goal)) insert(units[0], measure(speed, size, noise, random));
  while (const auto gap = least_certain_gap(goal, units)) {
    insert(units[0], measure(speed, gap->next, noise, random));
    REQUIRE(units[0].size() < 1000);
  }
  return units[0];
}

/// Points that equal steps need for the same error.
int points_needed(const AdaptiveGoal& goal, const Speed& speed) {
  Random random(8);
  for (int count = 3;; count += 1 + count / 20) {
    Points points;
    for (const std::int64_t size : linear_sizes(goal.smallest, goal.largest, count)) {
      points.push_back(measure(speed, size, 0.0, random));
    }
    if (largest_error(points, speed) <= goal.error || count > 5000) return count;
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

TEST_CASE("sizes are within half a unit of equal steps or ratios, increase and end exactly") {
  Random random(1);
  for (int trial = 0; trial < 600; ++trial) {
    const bool is_linear = trial % 2 == 0;
    const std::int64_t smallest = trial % 7 == 0 ? 9007199254740993 : whole(random, 1, 1000);  // not a double
    const std::int64_t largest = smallest + whole(random, 1, trial % 3 == 0 ? 20 : 1000000);
    const int count = whole(random, 2, 60);
    const Sizes sizes = (is_linear ? linear_sizes : geometric_sizes)(smallest, largest, count);
    REQUIRE(sizes.front() == smallest);
    REQUIRE(sizes.back() == largest);
    REQUIRE(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
    if (trial % 7 == 0) continue;
    // Where rounding makes some equal there are fewer.
    std::size_t found = 0;
    const auto first = static_cast<double>(smallest), last = static_cast<double>(largest);
    for (int i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / (count - 1);
      const double exact = is_linear ? first + (last - first) * share : first * std::pow(last / first, share);
      if (found + 1 < sizes.size() && static_cast<double>(sizes[found]) < exact - 0.5 - 1e-6) ++found;
      REQUIRE(std::abs(static_cast<double>(sizes[found]) - exact) <= 0.5 + 1e-6);
    }
    REQUIRE(found + 1 == sizes.size());
  }
  for (const auto sizes_of : {linear_sizes, geometric_sizes}) CHECK(sizes_of(7, 7, 9) == Sizes{7});
}

TEST_CASE("with a cache cliff, adaptive points need three times fewer than a sweep for the same error") {
  const double edge = GENERATE(100.0, 300.0, 900.0);
  const double width = GENERATE(0.1, 0.2);
  const double drop = GENERATE(0.4, 0.7);
  const AdaptiveGoal goal{16, 8192, 0.03, 0.01};
  const Speed speed = cliff(edge, width, drop);
  const Points adaptive = adaptive_points(goal, speed);
  const double error = largest_error(adaptive, speed);
  const int linear = points_needed(goal, speed);
  INFO(adaptive.size() << " adaptive points, error " << error << "; " << linear << " linear");
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
  Random random(9);
  const AdaptiveGoal goal{16, 4096, 0.03, 0.01};
  std::vector<Points> units(2);
  for (const std::int64_t size : first_sizes(goal)) {
    insert(units[0], measure([](double) { return 1000.0; }, size, 0.0, random));
    insert(units[1], measure(cliff(500.0, 0.1, 0.6), size, 0.0, random));
  }
  const auto gap = least_certain_gap(goal, units), alone = least_certain_gap(goal, {units.begin() + 1, 1});
  REQUIRE((gap && alone && alone->next == gap->next));
  CHECK((static_cast<double>(gap->next) > gap->left && static_cast<double>(gap->next) < gap->right));
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

TEST_CASE("ends, counts and goals that mean nothing are refused") {
  for (const auto sizes_of : {linear_sizes, geometric_sizes}) {
    CHECK_THROWS_AS(sizes_of(0, 10, 5), InvalidArgument);
    CHECK_THROWS_AS(sizes_of(11, 10, 5), InvalidArgument);
    CHECK_THROWS_AS(sizes_of(1, 10, 1), InvalidArgument);
    CHECK_THROWS_AS(sizes_of(5, 5, 0), InvalidArgument);
    CHECK_NOTHROW(sizes_of(5, 5, 1));
  }
  for (const AdaptiveGoal& bad :
       {AdaptiveGoal{0, 10, 0.1, 0.0}, AdaptiveGoal{11, 10, 0.1, 0.0}, AdaptiveGoal{1, 10, 0.0, 0.0},
        AdaptiveGoal{1, 10, 1.0, 0.0}, AdaptiveGoal{1, 10, std::nan(""), 0.0}, AdaptiveGoal{1, 10, 0.1, -1.0},
        AdaptiveGoal{1, 10, 0.1, 1.0}}) {
    CHECK_THROWS_AS(first_sizes(bad), InvalidArgument);
    CHECK_THROWS_AS(least_certain_gap(bad, {}), InvalidArgument);
  }
}

}  // namespace steelyard::test_size_selection
