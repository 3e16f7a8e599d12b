#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::test_spread {

using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using models::MeasuredPoint;

TEST_CASE("a time is clearly longer when the intervals do not touch") {
  CHECK(clearly_longer({1, 2.0}, {1, 1.9}));
  CHECK_FALSE(clearly_longer({1, 2.0}, {1, 2.0}));
  CHECK_FALSE(clearly_longer({1, 2.0, 3, 0.5}, {1, 1.0, 3, 0.5}));
  CHECK(clearly_longer({1, 2.0, 3, 0.4}, {1, 1.0, 3, 0.5}));
}

TEST_CASE("units clearly differ exactly when some two of their intervals do not overlap") {
  using Points = std::vector<MeasuredPoint>;
  CHECK(clear_difference_s(Points{{1, 2.0}, {1, 1.0}, {1, 1.5}}) == 1.0);
  CHECK(clear_difference_s(Points{{1, 2.0, 3, 0.25}, {1, 1.0, 3, 0.25}}) == 0.5);
  CHECK(clear_difference_s(Points{{1, 2.0, 3, 1.0}, {1, 1.0, 3, 0.5}}) < 0.0);
  // The longest and the shortest overlap, because they are uncertain; the two between do not.
  CHECK(clear_difference_s(Points{{1, 3.0, 3, 3.0}, {1, 2.0}, {1, 1.5}, {1, 1.0, 3, 3.0}}) == 0.5);
}

TEST_CASE("units without work do not count") {
  using Points = std::vector<MeasuredPoint>;
  CHECK(clear_difference_s(Points{{1, 2.0}, {}}) == 0.0);
  CHECK(clear_difference_s(Points{}) == 0.0);
  CHECK(measured_imbalance(Points{{1, 2.0}, {}}) == 0.0);
  CHECK(measured_imbalance(Points{{1, 2.0}, {}, {1, 1.5}}) == 0.25);
  CHECK(last_done(Points{{}, {4, 1.0}, {5, 2.0}}).units == 5.0);
  CHECK(last_done(Points{{}, {}}).time_s == 0.0);
}

TEST_CASE("a sample becomes its mean with Student's interval, a single run is believed") {
  const std::vector<double> times_s = {1.0, 1.2, 1.1, 0.9};
  const MeasuredPoint point = point_of_sample(7, times_s, 0.95);
  CHECK(point.units == 7.0);
  CHECK(point.repetitions == 4);
  CHECK_THAT(point.time_s, WithinRel(1.05, 1e-14));
  CHECK(point.confidence_s == confidence_half_width(times_s, 0.95));
  CHECK(point_of_sample(7, std::vector<double>{2.0}, 0.95).confidence_s == 0.0);
  CHECK_THROWS_AS(point_of_sample(7, {}, 0.95), InvalidArgument);
}

}  // namespace steelyard::test_spread
