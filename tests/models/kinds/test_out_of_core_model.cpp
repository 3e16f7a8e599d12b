#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/base/errors.hpp"
#include "models/kinds/out_of_core_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_out_of_core_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Kind;
using tests::model_of;
using tests::name_of;
using tests::Random;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

OutOfCoreModel::Build build(Kind kind) {
  return [kind](std::span<const MeasuredPoint> points, double most) { return model_of(points, kind, most); };
}

Kind regime_kind() {
  return GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::unimodal, Kind::akima,
                  Kind::polynomial, Kind::shrunk, Kind::saturating, Kind::sine_plateau, Kind::table);
}

/// Points in core at about 100 units/s up to 500, out of core at about 20 units/s up to 2000.
Points two_regimes(Random& random, int in_core, int out_of_core) {
  Points points;
  for (int i = 1; i <= in_core; ++i) {
    const double units = 500.0 * i / in_core;
    points.push_back({units, units / uniform(random, 80.0, 120.0)});
  }
  for (int i = 1; i <= out_of_core; ++i) {
    const double units = 500.0 + 1500.0 * i / out_of_core;
    points.push_back({units, units / uniform(random, 15.0, 25.0)});
  }
  return points;
}

/// Below the limit as one model, above as another.
struct Regimes {
  SpeedModelPtr in_core;
  SpeedModelPtr out_of_core;

  Regimes(const Points& points, double in_core_units, double max_units, Kind kind) {
    const auto split = std::find_if(points.begin(), points.end(),
                                    [&](const MeasuredPoint& point) { return point.units > in_core_units; });
    in_core = model_of(Points(points.begin(), split), kind, in_core_units);
    out_of_core = model_of(Points(split, points.end()), kind, max_units);
  }
};

}  // namespace

TEST_CASE("each regime is as if it were alone") {
  Random random(1);
  const Kind kind = regime_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 20; ++trial) {
    const Points points = two_regimes(random, whole(random, 1, 8), whole(random, 1, 8));
    const double max_units = whole(random, 0, 1) == 0 ? infinity : 2500.0;
    const OutOfCoreModel model(points, 510.0, max_units, build(kind));
    const Regimes regimes(points, 510.0, max_units, kind);
    REQUIRE(model.kind() == regimes.in_core->kind());
    REQUIRE(model.in_core_units() == 510.0);
    REQUIRE(model.max_units() == regimes.out_of_core->max_units());
    REQUIRE(model.time_s(510.0) == regimes.in_core->time_s(510.0));
    REQUIRE(model.time_s(std::nextafter(510.0, infinity)) ==
            regimes.out_of_core->time_s(std::nextafter(510.0, infinity)));
    for (const MeasuredPoint& point : points) {
      REQUIRE(model.time_s(point.units) ==
              (point.units <= 510.0 ? regimes.in_core : regimes.out_of_core)->time_s(point.units));
    }
    for (double units = 0.0; units < 3000.0; units += 7.0) {
      const SpeedModel& regime = units <= 510.0 ? *regimes.in_core : *regimes.out_of_core;
      REQUIRE(model.time_s(units) == regime.time_s(units));
      REQUIRE(model.speed(units) == regime.speed(units));
    }
  }
}

TEST_CASE("points dropped in either regime are dropped, by size") {
  Random random(2);
  Points points = two_regimes(random, 10, 10);
  points[3].time_s *= 10.0;
  points[15].time_s *= 10.0;
  const OutOfCoreModel model(points, 500.0, infinity, build(Kind::increasing_time));
  const Regimes regimes(points, 500.0, infinity, Kind::increasing_time);
  REQUIRE(model.dropped().size() == regimes.in_core->dropped().size() + regimes.out_of_core->dropped().size());
  const auto has = [&](double units) {
    return std::any_of(model.dropped().begin(), model.dropped().end(),
                       [&](const MeasuredPoint& point) { return point.units == units; });
  };
  CHECK(has(points[3].units));
  CHECK(has(points[15].units));
  CHECK(std::is_sorted(model.dropped().begin(), model.dropped().end(),
                       [](const auto& a, const auto& b) { return a.units < b.units; }));
}

TEST_CASE("units within a time are the most of both regimes") {
  Random random(3);
  const Kind kind = regime_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 30; ++trial) {
    Points points = two_regimes(random, whole(random, 1, 6), whole(random, 1, 6));
    // Out of core slower, or faster so that time falls at the limit.
    if (trial % 2 == 0) {
      for (MeasuredPoint& point : points) point.time_s *= point.units > 500.0 ? 0.05 : 1.0;
    }
    const OutOfCoreModel model(points, 510.0, 2500.0, build(kind));
    const Regimes regimes(points, 510.0, 2500.0, kind);
    for (int i = 0; i < 30; ++i) {
      const double time_s = model.time_s(points[static_cast<std::size_t>(i) % points.size()].units) *
                            (i < 10 ? 1.0 : uniform(random, 0.2, 1.2));
      const double units = model.units_within(time_s);
      const double beyond = regimes.out_of_core->units_within(time_s);
      REQUIRE(model.time_s(units) <= time_s * (1.0 + 1e-9));
      REQUIRE(units == (beyond > 510.0 ? beyond : regimes.in_core->units_within(time_s)));
      REQUIRE(units >= regimes.in_core->units_within(time_s));
    }
  }
}

TEST_CASE("a time between the two regimes leaves what is in core") {
  const Points points{{100.0, 1.0}, {200.0, 2.0}, {300.0, 30.0}, {400.0, 40.0}};
  const OutOfCoreModel model(points, 250.0, 1000.0, build(Kind::constant));
  CHECK_THAT(model.time_s(250.0), WithinRel(2.5, 1e-12));
  CHECK(model.units_within(2.5) == 250.0);
  CHECK(model.units_within(24.9) == 250.0);
  CHECK_THAT(model.units_within(26.0), WithinRel(260.0, 1e-12));
  CHECK(model.units_within(1e6) == 1000.0);
}

TEST_CASE("an update in one regime leaves the other as it was") {
  Random random(4);
  const Kind kind = regime_kind();
  INFO(name_of(kind));
  const Points points = two_regimes(random, 5, 5);
  OutOfCoreModel model(points, 510.0, infinity, build(kind));
  const auto times = [&](double from, double to) {
    std::vector<double> found;
    for (const MeasuredPoint& point : points) {
      if (point.units >= from && point.units <= to) found.push_back(model.time_s(point.units));
    }
    return found;
  };
  const auto in_core = times(0.0, 510.0);
  auto out_of_core = times(510.1, 3000.0);
  model.update({1777.0, 60.0});
  CHECK(times(0.0, 510.0) == in_core);
  CHECK(model.points().size() == 11);
  out_of_core = times(510.1, 3000.0);
  model.update({333.0, 4.0});
  CHECK(times(510.1, 3000.0) == out_of_core);
  // Beside the limit: this size itself is in core.
  model.update({510.0, 6.0});
  CHECK(times(510.1, 3000.0) == out_of_core);
  CHECK(model.points().size() == 13);
}

TEST_CASE("an update that a regime refuses leaves both as they were") {
  Random random(5);
  const Points points = two_regimes(random, 3, 3);
  const auto at_most_three = [](std::span<const MeasuredPoint> regime, double most) {
    if (regime.size() > 3) throw InvalidArgument("too many points");
    return model_of(regime, Kind::akima, most);
  };
  OutOfCoreModel model(points, 510.0, infinity, at_most_three);
  const OutOfCoreModel same(points, 510.0, infinity, at_most_three);
  for (const double units : {123.0, 1234.0}) {
    CHECK_THROWS_AS(model.update({units, 1.0}), InvalidArgument);
    CHECK(model.points().size() == 6);
    for (const double size : {50.0, 333.0, 700.0, 1900.0}) CHECK(model.time_s(size) == same.time_s(size));
  }
}

TEST_CASE("limits or points without two regimes are refused with their values") {
  Random random(6);
  const Points points = two_regimes(random, 4, 4);
  const auto make = [&](double in_core, double all) {
    return OutOfCoreModel(points, in_core, all, build(Kind::constant));
  };
  CHECK_THROWS_MATCHES(make(750.0, 750.0), InvalidArgument, MessageMatches(ContainsSubstring("750")));
  CHECK_THROWS_MATCHES(make(900.0, 750.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("900") && ContainsSubstring("750")));
  for (const double bad : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(make(bad, infinity), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(make(10.0, infinity), InvalidArgument, MessageMatches(ContainsSubstring("0 of 8 points")));
  CHECK_THROWS_MATCHES(make(2000.0, infinity), InvalidArgument, MessageMatches(ContainsSubstring("8 of 8 points")));
}

}  // namespace steelyard::test_out_of_core_model
