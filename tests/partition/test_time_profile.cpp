#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/kinds/akima_model.hpp"
#include "models/kinds/out_of_core_model.hpp"
#include "models/kinds/table_model.hpp"
#include "partition/time_profile.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_time_profile {

using namespace steelyard::partition;
using tests::Kind;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

/// Compares with a look at every size, at times that some sizes take just so.
void check_all_sizes(Random& random, const models::SpeedModel& model, int total) {
  const TimeProfile profile(model, total);
  REQUIRE(profile.capacity() == std::min<std::int64_t>(total, std::llround(std::floor(std::min(
                                                                  model.max_units(), static_cast<double>(total))))));
  for (int trial = 0; trial < 10; ++trial) {
    const double time_s =
        profile.time_s(whole(random, 0, static_cast<int>(profile.capacity()))) * (trial % 2 == 0 ? 1.0 : 1.01);
    if (!std::isfinite(time_s)) continue;
    SizeRanges expected;
    for (std::int64_t size = 0; size <= profile.capacity(); ++size) {
      if (profile.time_s(size) > time_s) continue;
      if (expected.empty() || expected.back().last + 1 < size) expected.push_back({size, size});
      expected.back().last = size;
    }
    REQUIRE(profile.sizes_within(time_s) == expected);
    REQUIRE(profile.largest_within(time_s, 0, profile.capacity()) == expected.back().last);
    const std::int64_t limit = whole(random, 0, static_cast<int>(profile.capacity()));
    std::int64_t largest = 0;
    for (const SizeRange& range : expected) {
      if (range.first <= limit) largest = std::min(range.last, limit);
    }
    REQUIRE(profile.largest_within(time_s, 0, limit) == largest);
    REQUIRE(profile.largest_within(time_s, largest, limit) == largest);
  }
}

}  // namespace

TEST_CASE("a profile knows all sizes within a time where speed is linear between points") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const int total = whole(random, 1, 300);
    const auto kind = static_cast<Kind>(whole(random, 0, 2));
    check_all_sizes(random, *random_model(random, kind, 200.0, tests::random_limit(random, 0.5, 300.0)), total);
  }
}

TEST_CASE("a profile knows all sizes within a time where speed is smooth") {
  Random random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const models::AkimaModel model(tests::random_points(random, whole(random, 1, 12), 400.0));
    check_all_sizes(random, model, whole(random, 1, 500));
  }
}

TEST_CASE("a profile knows all sizes of a table") {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<models::MeasuredPoint> points;
    for (double units = whole(random, 1, 5); units < 300.0; units += whole(random, 1, 60)) {
      points.push_back({units, uniform(random, 1.0, 9.0)});
    }
    check_all_sizes(random, models::TableModel(points), whole(random, 1, 400));
  }
}

TEST_CASE("a profile sees times fall where a model goes out of core") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const auto points = tests::random_points(random, 8, 300.0);
    const double in_core = uniform(random, points[2].units, points[5].units);
    const models::OutOfCoreModel model(points, in_core, 1000.0, [](auto part, double limit) {
      return std::make_unique<models::PiecewiseLinearModel>(part, models::Shape::as_measured, limit);
    });
    check_all_sizes(random, model, 400);
  }
}

TEST_CASE("the longest time of a profile is that of all sizes") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const auto model = random_model(random, Kind::as_measured, 200.0);
    const TimeProfile profile(*model, 250);
    double longest = 0.0;
    for (int size = 1; size <= 250; ++size) longest = std::max(longest, model->time_s(size));
    REQUIRE(profile.longest_s() == longest);
  }
}

}  // namespace steelyard::test_time_profile
