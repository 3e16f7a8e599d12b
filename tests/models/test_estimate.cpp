#include "models/estimate.hpp"
#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_estimate {

using namespace steelyard::models;

namespace {

constexpr int seeds = 2000;

double true_time_s(double units) { return units / (100.0 + units); }

/// Mean of some repetitions with relative noise, and its 95 % interval, on a machine that runs `slower` times slower.
MeasuredPoint measured(std::mt19937_64& random, double units, double noise, int repetitions, double slower = 1.0) {
  std::normal_distribution<double> normal(1.0, noise);
  std::vector<double> times_s;
  for (int i = 0; i < repetitions; ++i) times_s.push_back(slower * true_time_s(units) * normal(random));
  return {units, mean(times_s), repetitions, confidence_half_width(times_s, 0.95)};
}

bool contains(const Interval& interval, double value) { return interval.lower <= value && value <= interval.upper; }

/// Of a file with points of this speed.
template <class Speed>
FpmFile exact_file(const std::vector<double>& sizes, const Speed& speed) {
  FpmFile file;
  for (const double units : sizes) file.points.push_back({units, units / speed(units)});
  return file;
}

}  // namespace

TEST_CASE("an interval contains its estimate, reaches as far by factors on both sides and has no time below 0") {
  for (const double half_width_s : {0.0, 0.1, 2.0, 50.0}) {
    const Interval interval = Estimate{2.0, half_width_s, 0.0}.interval();
    CHECK(contains(interval, 2.0));
    CHECK(interval.lower > 0.0);
    CHECK_THAT(interval.lower * interval.upper, WithinRel(4.0, 1e-12));
    CHECK_THAT(interval.upper, WithinRel(2.0 + half_width_s, 1e-12));
  }
  CHECK(Estimate{}.interval().half_width() == 0.0);
}

TEST_CASE("errors of phases add in quadrature, those that they share as they are") {
  const Estimate a{1.0, 0.3, 0.1}, b{2.0, 0.4, 0.2};
  const Estimate sum = a + b;
  CHECK(sum.time_s == 3.0);
  CHECK_THAT(sum.own_s, WithinRel(0.5, 1e-12));
  CHECK_THAT(sum.shared_s, WithinRel(0.3, 1e-12));
  CHECK_THAT(sum.half_width_s(), WithinRel(std::hypot(0.5, 0.3), 1e-12));
  const Estimate twice = scaled_to(2.0, a);
  CHECK(twice.time_s == 2.0);
  CHECK_THAT(twice.half_width_s(), WithinRel(2.0 * a.half_width_s(), 1e-12));
  CHECK(scaled_to(2.0, Estimate{}).half_width_s() == 0.0);
}

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
}

TEST_CASE("points without spread on a straight line of speed are certain everywhere") {
  const FpmFile file = exact_file({10.0, 20.0, 50.0, 100.0}, [](double units) { return 100.0 + units; });
  for (const double units : {1.0, 10.0, 33.0, 100.0, 1000.0}) {
    CHECK_THAT(estimate(file, units, 2.0).half_width_s(), WithinAbs(0.0, 1e-12));
  }
  CHECK(estimate(file, 33.0, 0.0).half_width_s() == 0.0);
  CHECK(estimate(FpmFile(), 33.0, 1.0).half_width_s() == 0.0);
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
  CHECK_THAT(estimate(file, 40.0, 1.0).half_width_s(), WithinAbs(0.0, 1e-12));
  CHECK(estimate(file, 65.0, 1.0).half_width_s() > 0.05);
}

TEST_CASE("of runs as noisy as the points were, intervals contain 85 to 95 %") {
  const double noise = GENERATE(0.005, 0.05);
  const int repetitions = GENERATE(3, 10);
  CAPTURE(noise, repetitions);
  std::mt19937_64 random(1);
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
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(1.0, drift), later(1.0, later_drift);
  int covered = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    FpmFile file;
    for (const double units : {10.0, 20.0, 40.0, 80.0}) {
      std::vector<MeasuredPoint> of_size;
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

TEST_CASE("drift is the deviation between rounds, whatever the sizes, and rounds alike have none") {
  Drift drift;
  drift.add(std::vector<MeasuredPoint>{{10.0, 1.0}});
  CHECK(drift.degrees == 0);
  drift.add(std::vector<MeasuredPoint>{{10.0, 1.0}, {11.0, 1.1}});
  CHECK(drift.degrees == 1);
  CHECK_THAT(drift.share, WithinAbs(0.0, 1e-12));
  Drift whole;
  for (const double units : {1.0, 100.0}) {
    whole.add(std::vector<MeasuredPoint>{{units, units / 9.0}, {units, units / 10.0}, {units, units / 11.0}});
  }
  CHECK(whole.degrees == 4);
  CHECK(whole.rounds == 3);
  CHECK_THAT(whole.share, WithinRel(0.1, 1e-12));
}

}  // namespace steelyard::test_estimate
