#include "core/base/statistics.hpp"
#include "partition/balancing/outcome.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_outcome {

using namespace steelyard::partition;
using Points = std::vector<models::MeasuredPoint>;

namespace {

/// Two units; the first takes `times_s` in turn, the second 1 s.
Measure in_turn(std::vector<double> times_s, double confidence_s = 0.0) {
  return [times_s, confidence_s, next = std::size_t{0}](std::span<const std::int64_t> units) mutable {
    const double time_s = times_s[next++ % times_s.size()];
    return Points{{static_cast<double>(units[0]), time_s, 1, confidence_s},
                  {static_cast<double>(units[1]), 1.0, 1, confidence_s}};
  };
}

}  // namespace

TEST_CASE("times clearly differ when some two intervals of units with work do not touch") {
  CHECK(clearly_longer({1, 2.0}, {1, 1.9}));
  CHECK_FALSE(clearly_longer({1, 2.0, 3, 0.5}, {1, 1.0, 3, 0.5}));
  CHECK(clearly_longer({1, 2.0, 3, 0.4}, {1, 1.0, 3, 0.5}));
  CHECK(clear_difference_s(Points{{1, 2.0}, {1, 1.0}, {1, 1.5}}) == 1.0);
  CHECK(clear_difference_s(Points{{1, 2.0, 3, 0.25}, {1, 1.0, 3, 0.25}}) == 0.5);
  CHECK(clear_difference_s(Points{{1, 2.0, 3, 1.0}, {1, 1.0, 3, 0.5}}) < 0.0);
  // The longest and the shortest overlap, because they are uncertain; the two between do not.
  CHECK(clear_difference_s(Points{{1, 3.0, 3, 3.0}, {1, 2.0}, {1, 1.5}, {1, 1.0, 3, 3.0}}) == 0.5);
  CHECK(clear_difference_s(Points{{1, 2.0}, {}}) == 0.0);
  CHECK(measured_imbalance(Points{{1, 2.0}, {}, {1, 1.5}}) == 0.25);
  CHECK(last_done(Points{{}, {4, 1.0}, {5, 2.0}}).units == 5.0);
  CHECK(last_done(Points{{}, {}}).time_s == 0.0);
}

TEST_CASE("a sample becomes its mean with Student's interval, a single run is believed") {
  const std::vector<double> times_s = {1.0, 1.25, 1.125, 0.875};
  const models::MeasuredPoint point = point_of_sample(7, times_s);
  CHECK(point.units == 7.0);
  CHECK(point.repetitions == 4);
  CHECK(point.time_s == 1.0625);
  CHECK(point.confidence_s == confidence_half_width(times_s, 0.95));
  CHECK(point_of_sample(7, std::vector<double>{2.0}).confidence_s == 0.0);
}

TEST_CASE("distributions are measured until they can be told apart, and no more often than that can help") {
  RepeatedMeasurement unknown(in_turn({2.0, 2.01, 1.99}, tests::infinity), {5, 100});
  CHECK(unknown.differ({5, 5}));
  CHECK(unknown.left() == 100 - 2);
  RepeatedMeasurement certain(in_turn({1.0}), {});
  CHECK_FALSE(certain.differ({5, 5}));
  CHECK(certain.compare({5, 5}, {4, 6}) == 0);
  CHECK(certain.left() == 100 - 2);
  RepeatedMeasurement uncertain(in_turn({1.0, 1.1}, 0.5), {4, 100});
  CHECK_FALSE(uncertain.differ({5, 5}));
  CHECK(uncertain.left() == 100 - 4);
  CHECK(uncertain.compare({5, 5}, {4, 6}) == 0);
  CHECK(uncertain.left() == 100 - 8);
}

}  // namespace steelyard::test_outcome
