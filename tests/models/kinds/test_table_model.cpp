#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/base/errors.hpp"
#include "models/kinds/table_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_table_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a table knows its sizes and nothing between, before or after them") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const TableModel model(points);
    REQUIRE(model.kind() == "table");
    REQUIRE(model.time_s(0.0) == 0.0);
    REQUIRE(model.max_units() == points.back().units);
    for (const MeasuredPoint& point : points) {
      REQUIRE_THAT(model.time_s(point.units), WithinRel(point.time_s, 1e-15));
      for (const double near : {std::nextafter(point.units, 0.0), std::nextafter(point.units, infinity)}) {
        REQUIRE(model.speed(near) == 0.0);
        REQUIRE(model.time_s(near) == infinity);
      }
    }
    REQUIRE(model.time_s(0.5 * points.front().units) == infinity);
    REQUIRE(model.time_s(2.0 * points.back().units) == infinity);
  }
}

TEST_CASE("units within a time are the largest size of the table that takes no longer") {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const TableModel model(points, uniform(random, points.front().units, 1.2 * points.back().units));
    for (int i = 0; i < 20; ++i) {
      const double time_s = uniform(random, 0.0, 2.0 * points.back().time_s);
      double expected = 0.0;
      for (const MeasuredPoint& point : points) {
        if (point.time_s <= time_s && point.units <= model.max_units()) expected = point.units;
      }
      REQUIRE(model.units_within(time_s) == expected);
    }
    for (const MeasuredPoint& point : points) {
      if (model.fits(point.units)) REQUIRE(model.units_within(model.time_s(point.units)) >= point.units);
    }
  }
}

TEST_CASE("a table ends at the last size within its limit") {
  const Points points{{10.0, 1.0}, {20.0, 2.0}, {30.0, 3.0}};
  CHECK(TableModel(points, 29.0).max_units() == 20.0);
  CHECK(TableModel(points, 20.0).max_units() == 20.0);
  CHECK(TableModel(points, 29.0).time_s(30.0) == infinity);
  CHECK(TableModel(points, 29.0).units_within(100.0) == 20.0);
  CHECK(TableModel(points, 500.0).max_units() == 30.0);
}

TEST_CASE("a table grows with the points that it is given, up to its limit") {
  TableModel model(Points{{10.0, 1.0}, {20.0, 2.0}}, 35.0);
  model.update({30.0, 2.5});
  CHECK(model.max_units() == 30.0);
  CHECK(model.units_within(2.5) == 30.0);
  model.update({40.0, 2.6});
  CHECK(model.max_units() == 30.0);
  CHECK(model.points().size() == 4);
}

TEST_CASE("a limit below all sizes of a table is refused with both numbers") {
  CHECK_THROWS_MATCHES(TableModel(Points{{10.5, 1.0}, {20.0, 2.0}}, 7.25), InvalidArgument,
                       MessageMatches(ContainsSubstring("10.5") && ContainsSubstring("7.25")));
}

}  // namespace steelyard::test_table_model
