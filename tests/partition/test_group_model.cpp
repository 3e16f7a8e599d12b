#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "partition/hierarchical.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_group_model {

using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::whole;

TEST_CASE("a group takes as long as the inner distribution of its share") {
  Random random(1);
  const Algorithm& inner = find_algorithm("numerical");
  for (int trial = 0; trial < 50; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 3); i > 0; --i) units.add(random_model(random, Kind::as_measured, 30.0));
    const GroupModel group(units.models, inner, 30);
    CHECK(group.max_units() == 30.0);
    CHECK(group.time_s(0.0) == 0.0);
    for (int size = 1; size <= 30; ++size) {
      // Time comes back from speed, so that it is rounded twice.
      REQUIRE_THAT(group.time_s(size), WithinRel(tests::least_makespan_s(size, units.models), 1e-14));
    }
  }
}

TEST_CASE("the largest size of a group within a time is the largest whole one where time grows") {
  Random random(2);
  const Algorithm& inner = find_algorithm("geometric");
  for (int trial = 0; trial < 50; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 4); i > 0; --i) units.add(random_model(random, Kind::increasing_time, 200.0));
    const GroupModel group(units.models, inner, 500);
    for (int i = 0; i < 10; ++i) {
      const int size = whole(random, 1, 499);
      const auto within = static_cast<int>(group.units_within(group.time_s(size)));
      REQUIRE(within >= size);
      REQUIRE(group.time_s(within) <= group.time_s(size));
      if (within < 500) REQUIRE(group.time_s(within + 1) > group.time_s(size));
    }
  }
}

TEST_CASE("a group holds what its units hold in whole sizes, and no more than is asked for") {
  const ConstantModel a(1.0, 3.9), b(1.0, 2.2), open(1.0);
  const Algorithm& inner = find_algorithm("geometric");
  CHECK(GroupModel({&a, &b}, inner, 100).max_units() == 5.0);
  CHECK(std::isinf(GroupModel({&a, &b}, inner, 100).time_s(6.0)));
  CHECK(GroupModel({&a, &open}, inner, 100).max_units() == 100.0);
  CHECK_THROWS_AS(GroupModel({}, inner, 100), InvalidArgument);
}

TEST_CASE("a size that the inner algorithm refuses takes forever") {
  const ConstantModel tight(1.0, 2.0), open(1.0);
  const GroupModel group({&tight, &open}, find_algorithm("even"), 100);
  CHECK(std::isfinite(group.time_s(5.0 - 1.0)));
  CHECK(std::isinf(group.time_s(6.0)));
}

}  // namespace steelyard::test_group_model
