// How certain predictions are, and which sizes to measure for certain models.
#include <functional>

#include "models/estimate.hpp"
#include "models/kinds/model_kinds.hpp"
#include "models/size_selection.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_certainty {

using namespace steelyard::models;
using tests::Random;
using tests::whole;
using Points = std::vector<MeasuredPoint>;
using Sizes = std::vector<std::int64_t>;
using Speed = std::function<double(double units)>;

namespace {

constexpr int seeds = 2000;

double true_time_s(double units) { return units / (100.0 + units); }

/// Mean of some repetitions with relative noise, and its 95 % interval, on a machine that runs `slower` times slower.
MeasuredPoint measured(Random& random, double units, double noise, int repetitions, double slower = 1.0) {
  std::normal_distribution<double> normal(1.0, noise);
  std::vector<double> times_s;
  for (int i = 0; i < repetitions; ++i) times_s.push_back(slower * true_time_s(units) * normal(random));
  return {units, mean(times_s), repetitions, confidence_half_width(times_s, 0.95)};
}

bool contains(const Interval& interval, double value) { return interval.lower <= value && value <= interval.upper; }

/// Of a file with points of this speed.
FpmFile exact_file(const std::vector<double>& sizes, const Speed& speed) {
  FpmFile file;
  for (const double units : sizes) file.points.push_back({units, units / speed(units)});
  return file;
}

MeasuredPoint measure(const Speed& speed, std::int64_t size, double noise, Random& random) {
  const auto units = static_cast<double>(size);
  // What a measurement that stops at this precision leaves: normal, within the half width at 95 %.
  const double factor = noise > 0.0 ? std::normal_distribution<double>(1.0, noise / 2.0)(random) : 1.0;
  const double time_s = units / speed(units) * factor;
  return {units, time_s, 10, noise * time_s};
}

void insert(Points& points, const MeasuredPoint& point) {
  points.insert(std::ranges::lower_bound(points, point.units, {}, &MeasuredPoint::units), point);
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
    for (int i = 0; i < count; ++i) {
      const std::int64_t size = goal.smallest + (goal.largest - goal.smallest) * i / (count - 1);
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

TEST_CASE("units that work at the same time take as long as the longest, within what any of them may take") {
  const std::vector<Estimate> units{{1.0, 0.5, 0.0}, {1.4, 0.01, 0.02}, {0.2, 0.3, 0.3}};
  const Estimate all = longest(units);
  CHECK(all.time_s == 1.4);
  for (const Estimate& unit : units) {
    CHECK(unit.time_s + unit.own_s <= all.time_s + all.own_s + 1e-12);
    CHECK(unit.time_s + unit.shared_s <= all.time_s + all.shared_s + 1e-12);
  }
  CHECK_THAT(all.own_s, WithinRel(0.1, 1e-12));
  CHECK(longest({}).time_s == 0.0);
  const Estimate run = run_estimate(units, 3.8, 1.0, 0.25);
  CHECK(run.time_s == 3.8);
  CHECK_THAT(run.own_s, WithinRel(2.0 * all.own_s, 1e-12));
  CHECK_THAT(run.shared_s, WithinRel(2.0 * all.shared_s + 0.25, 1e-12));
  const Estimate nothing_to_do = run_estimate({}, 3.0, 1.0, 0.5);
  CHECK(nothing_to_do.time_s == 3.0);
  CHECK(nothing_to_do.half_width_s() == 0.5);
  // Errors of phases add in quadrature, those that they share as they are.
  const Estimate sum = Estimate{1.0, 0.3, 0.1} + Estimate{2.0, 0.4, 0.2};
  CHECK(sum.time_s == 3.0);
  CHECK_THAT(sum.half_width_s(), WithinRel(std::hypot(0.5, 0.3), 1e-12));
  // Intervals reach as far by factors on both sides, and never below 0.
  for (const double half_width_s : {0.0, 0.1, 50.0}) {
    const Interval interval = Estimate{2.0, half_width_s, 0.0}.interval();
    CHECK_THAT(interval.lower * interval.upper, WithinRel(4.0, 1e-12));
    CHECK_THAT(interval.upper, WithinRel(2.0 + half_width_s, 1e-12));
  }
}

TEST_CASE("between points of a bent speed an interval is as wide as the line is wrong, and at the points it is none") {
  const auto speed = [](double units) { return 1000.0 + 4.0 * units - 0.02 * units * units; };
  const FpmFile file = exact_file({10.0, 30.0, 50.0, 80.0, 100.0}, speed);
  const PiecewiseLinearModel model(file.points);
  for (const MeasuredPoint& point : file.points) {
    CHECK_THAT(estimate(file, point.units, point.time_s).half_width_s(), WithinAbs(0.0, 1e-12));
  }
  for (const double units : {20.0, 40.0, 60.0, 70.0, 90.0}) {
    CAPTURE(units);
    const double time_s = model.time_s(units);
    const double error_s = std::abs(time_s - units / speed(units));
    CHECK_THAT(estimate(file, units, time_s).half_width_s(), WithinRel(error_s, 0.05));
  }
  // Farther out it is wider, up to a limit.
  CHECK(estimate(file, 110.0, 1.0).half_width_s() < estimate(file, 119.0, 1.0).half_width_s());
  CHECK(estimate(file, 121.0, 1.0).half_width_s() == estimate(file, 1000.0, 1.0).half_width_s());
}

TEST_CASE("points of another regime of memory say nothing of this one") {
  FpmFile file = exact_file({10.0, 20.0, 30.0}, [](double) { return 100.0; });
  file.in_core_units = 40.0;
  for (const double units : {50.0, 60.0, 70.0}) file.points.push_back({units, units * (units == 60.0 ? 3.0 : 2.0)});
  // Those of this one are on a straight line, and certain everywhere.
  for (const double units : {1.0, 10.0, 25.0, 40.0}) {
    CHECK_THAT(estimate(file, units, 1.0).half_width_s(), WithinAbs(0.0, 1e-12));
  }
  CHECK(estimate(FpmFile(), 33.0, 1.0).half_width_s() == 0.0);
  CHECK(estimate(file, 65.0, 1.0).half_width_s() > 0.05);
}

TEST_CASE("of runs as noisy as the points were, intervals contain 85 to 95 %") {
  const double noise = GENERATE(0.005, 0.05);
  const int repetitions = GENERATE(3, 10);
  CAPTURE(noise, repetitions);
  Random random(1);
  std::normal_distribution<double> later(1.0, later_drift);
  int covered = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    FpmFile file;
    for (const double units : {10.0, 20.0, 40.0}) {
      file.points.push_back(measured(random, units, noise, repetitions));
    }
    const double predicted_s = PiecewiseLinearModel(file.points, Shape::increasing_time).time_s(20.0);
    const MeasuredPoint run = measured(random, 20.0, noise, repetitions, later(random));
    covered += contains(estimate(file, 20.0, predicted_s).interval(), run.time_s) ? 1 : 0;
  }
  CHECK(covered > 0.85 * seeds);
  CHECK(covered < 0.95 * seeds);
}

TEST_CASE("of runs on a machine that changes speed from round to round, intervals contain 85 to 95 %") {
  const double drift = GENERATE(0.01, 0.08);
  const int rounds = GENERATE(2, 4);
  CAPTURE(drift, rounds);
  Random random(2);
  std::normal_distribution<double> normal(1.0, drift), later(1.0, later_drift);
  int covered = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    FpmFile file;
    for (const double units : {10.0, 20.0, 40.0, 80.0}) {
      Points of_size;
      for (int i = 0; i < rounds; ++i) of_size.push_back(measured(random, units, 0.002, 3, normal(random)));
      file.drift.add(of_size);
      file.points.push_back(merge_rounds(of_size, 0.95));
    }
    CHECK(file.drift.degrees == 4 * (rounds - 1));
    const double now = normal(random) * later(random);
    // Two phases after each other on two units, all as fast as the machine is now.
    const double predicted_s = PiecewiseLinearModel(file.points, Shape::increasing_time).time_s(40.0);
    const Estimate phase = estimate(file, 40.0, predicted_s);
    const std::vector<Estimate> units{phase, phase};
    const Estimate run = run_estimate(units, 2.0 * predicted_s, 0.0, 0.0);
    covered += contains(run.interval(), 2.0 * measured(random, 40.0, 0.002, 3, now).time_s) ? 1 : 0;
  }
  CHECK(covered > 0.85 * seeds);
  CHECK(covered < 0.95 * seeds);
}

TEST_CASE("drift is the deviation between rounds, whatever the sizes") {
  Drift drift;
  drift.add(Points{{10.0, 1.0}});
  CHECK(drift.degrees == 0);
  for (const double units : {1.0, 100.0}) {
    drift.add(Points{{units, units / 9.0}, {units, units / 10.0}, {units, units / 11.0}});
  }
  CHECK((drift.degrees == 4 && drift.rounds == 3));
  CHECK_THAT(drift.share, WithinRel(0.1, 1e-12));
}

TEST_CASE("sizes are within half a unit of equal ratios, increase and end exactly") {
  Random random(1);
  for (int trial = 0; trial < 600; ++trial) {
    const std::int64_t smallest = trial % 7 == 0 ? 9007199254740993 : whole(random, 1, 1000);  // not a double
    const std::int64_t largest = smallest + whole(random, 1, trial % 3 == 0 ? 20 : 1000000);
    const int count = whole(random, 2, 60);
    const Sizes sizes = geometric_sizes(smallest, largest, count);
    REQUIRE(sizes.front() == smallest);
    REQUIRE(sizes.back() == largest);
    REQUIRE(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end());
    if (trial % 7 == 0) continue;
    // Where rounding makes some equal there are fewer.
    std::size_t found = 0;
    const auto first = static_cast<double>(smallest), last = static_cast<double>(largest);
    for (int i = 0; i < count; ++i) {
      const double exact = first * std::pow(last / first, static_cast<double>(i) / (count - 1));
      if (found + 1 < sizes.size() && static_cast<double>(sizes[found]) < exact - 0.5 - 1e-6) ++found;
      REQUIRE(std::abs(static_cast<double>(sizes[found]) - exact) <= 0.5 + 1e-6);
    }
    REQUIRE(found + 1 == sizes.size());
  }
  CHECK(geometric_sizes(7, 7, 9) == Sizes{7});
}

TEST_CASE("with a cache cliff, adaptive points need three times fewer than a sweep for the same error") {
  const double edge = GENERATE(100.0, 300.0, 900.0);
  const double width = GENERATE(0.1, 0.2);
  const double drop = GENERATE(0.4, 0.7);
  const AdaptiveGoal goal{16, 8192, 0.03};
  const Speed speed = cliff(edge, width, drop);
  const Points adaptive = adaptive_points(goal, speed);
  const double error = largest_error(adaptive, speed);
  const int linear = points_needed(goal, speed);
  INFO(adaptive.size() << " adaptive points, error " << error << "; " << linear << " linear");
  CHECK(error <= goal.error);
  CHECK(3 * adaptive.size() <= static_cast<std::size_t>(linear));
}

TEST_CASE("noise within the confidence intervals is not chased") {
  const AdaptiveGoal goal{16, 8192, 0.05};
  const Speed speed = cliff(GENERATE(100.0, 300.0, 900.0), 0.2, 0.5);
  const Points exact = adaptive_points(goal, speed);
  const Points noisy = adaptive_points(goal, speed, 0.02);
  INFO(exact.size() << " points without noise, " << noisy.size() << " with; error " << largest_error(noisy, speed));
  CHECK(noisy.size() <= 2 * exact.size());
  CHECK(largest_error(noisy, speed) <= goal.error + 0.02);
}

TEST_CASE("of several units the least certain one decides, and the size lies inside its gap") {
  Random random(9);
  const AdaptiveGoal goal{16, 4096, 0.03};
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

TEST_CASE("a jump is located to a hundredth and then left alone") {
  const AdaptiveGoal goal{1, 4096, 0.05};
  const Speed jump = [](double units) { return units < 1000.5 ? 100.0 : 50.0; };
  const Points points = adaptive_points(goal, jump);
  const auto right = std::find_if(points.begin(), points.end(), [](const auto& point) { return point.units > 1000.0; });
  const auto left = right - 1;
  CHECK(right->units - left->units <= std::max(1.0, 0.01 * left->units));
}

TEST_CASE("ends, counts and goals that mean nothing are refused") {
  CHECK_THROWS_AS(geometric_sizes(0, 10, 5), InvalidArgument);
  CHECK_THROWS_AS(geometric_sizes(11, 10, 5), InvalidArgument);
  CHECK_THROWS_AS(geometric_sizes(1, 10, 1), InvalidArgument);
  CHECK_THROWS_AS(geometric_sizes(5, 5, 0), InvalidArgument);
  CHECK_NOTHROW(geometric_sizes(5, 5, 1));
  for (const AdaptiveGoal& bad : {AdaptiveGoal{0, 10, 0.1}, AdaptiveGoal{11, 10, 0.1}, AdaptiveGoal{1, 10, 0.0},
                                  AdaptiveGoal{1, 10, 1.0}, AdaptiveGoal{1, 10, std::nan("")}}) {
    CHECK_THROWS_AS(first_sizes(bad), InvalidArgument);
    CHECK_THROWS_AS(least_certain_gap(bad, {}), InvalidArgument);
  }
}

}  // namespace steelyard::test_certainty
