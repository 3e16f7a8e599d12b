#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "core/base/errors.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::test_repeated_measurement {

using namespace steelyard::partition;
using Slices = std::vector<std::int64_t>;

namespace {

/// Two units; the first takes `times_s` in turn, the second 1 s.
Measure in_turn(std::vector<double> times_s, double confidence_s = 0.0) {
  return [times_s, confidence_s, next = std::size_t{0}](std::span<const std::int64_t> units) mutable {
    const double time_s = times_s[next++ % times_s.size()];
    return std::vector<models::MeasuredPoint>{{static_cast<double>(units[0]), time_s, 1, confidence_s},
                                              {static_cast<double>(units[1]), 1.0, 1, confidence_s}};
  };
}

}  // namespace

TEST_CASE("several rounds of a distribution are remembered together") {
  RepeatedMeasurement measurement(in_turn({1.0, 2.0, 3.0}), {1, 3, 100, 0.95});
  CHECK(measurement.of({4, 6})[0].time_s == 1.0);
  CHECK(measurement.of({4, 6})[0].time_s == 1.0);
  CHECK(measurement.count() == 1);
  CHECK(measurement.again({4, 6}));
  CHECK(measurement.again({4, 6}));
  CHECK_FALSE(measurement.again({4, 6}));
  CHECK(measurement.of({4, 6})[0].time_s == 2.0);
  CHECK(measurement.of({4, 6})[0].confidence_s > 0.0);
  CHECK(measurement.of({4, 6})[0].repetitions == 3);
  CHECK(measurement.count() == 3);
  CHECK_FALSE(measurement.known({5, 5}));
}

TEST_CASE("single runs of unknown spread are measured until it is known") {
  const double infinity = std::numeric_limits<double>::infinity();
  RepeatedMeasurement measurement(in_turn({2.0, 2.01, 1.99}, infinity), {1, 5, 100, 0.95});
  CHECK(measurement.differ({5, 5}));
  CHECK(measurement.count() == 2);
}

TEST_CASE("what is known exactly is not measured again") {
  RepeatedMeasurement measurement(in_turn({1.0}), {});
  CHECK_FALSE(measurement.differ({5, 5}));
  CHECK(measurement.compare({5, 5}, {4, 6}) == 0);
  CHECK(measurement.count() == 2);
}

TEST_CASE("differences within the spread are measured up to the limit of rounds") {
  RepeatedMeasurement measurement(in_turn({1.0, 1.1}, 0.5), {1, 4, 100, 0.95});
  CHECK_FALSE(measurement.differ({5, 5}));
  CHECK(measurement.count() == 4);
  CHECK(measurement.compare({5, 5}, {4, 6}) == 0);
  CHECK(measurement.count() == 8);
}

TEST_CASE("measuring ends at the limit of measurements") {
  RepeatedMeasurement measurement(in_turn({1.0, 1.1}, 0.5), {1, 100, 3, 0.95});
  CHECK_FALSE(measurement.differ({5, 5}));
  CHECK(measurement.count() == 3);
  CHECK(measurement.exhausted());
  CHECK_FALSE(measurement.again({5, 5}));
  CHECK_FALSE(measurement.afresh({5, 5}));
}

TEST_CASE("measuring afresh forgets what was measured before") {
  RepeatedMeasurement measurement(in_turn({9.0, 2.0}), {});
  CHECK(measurement.of({5, 5})[0].time_s == 9.0);
  CHECK(measurement.afresh({5, 5}));
  CHECK(measurement.of({5, 5})[0].time_s == 2.0);
}

TEST_CASE("measurements of something else and unusable limits are refused") {
  RepeatedMeasurement other([](auto) { return std::vector<models::MeasuredPoint>{{1, 1.0}, {2, 1.0}}; }, {});
  CHECK_THROWS_AS(other.of({1, 3}), InvalidArgument);
  CHECK_THROWS_AS(other.of({1, 2, 3}), InvalidArgument);
  CHECK_NOTHROW(other.of({1, 0}));
  CHECK_THROWS_AS(RepeatedMeasurement(in_turn({1.0}), {2, 1, 10, 0.95}), InvalidArgument);
  CHECK_THROWS_AS(RepeatedMeasurement(in_turn({1.0}), {1, 1, 0, 0.95}), InvalidArgument);
  CHECK_THROWS_AS(RepeatedMeasurement(in_turn({1.0}), {1, 1, 1, 1.0}), InvalidArgument);
}

}  // namespace steelyard::test_repeated_measurement
