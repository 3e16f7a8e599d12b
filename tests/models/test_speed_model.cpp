// Laws that every kind of model obeys, and models of files; what one kind promises beyond them is in kinds/.
#include <set>

#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_speed_model {

using namespace steelyard::models;
using namespace steelyard::tests;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double most_units = 1000.0;

/// Kinds that know all sizes.
const std::vector<Kind> continuous_kinds{Kind::constant,   Kind::increasing_time, Kind::as_measured,
                                         Kind::akima,      Kind::polynomial,      Kind::shrunk,
                                         Kind::saturating, Kind::sine_plateau,    Kind::out_of_core};

Kind continuous_kind() { return GENERATE(from_range(continuous_kinds)); }

Kind any_kind() { return GENERATE(value(Kind::table), from_range(continuous_kinds)); }

SpeedModelPtr random_limited_model(Random& random, Kind kind) {
  return random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
}

/// Points in core at about 100 units/s up to 500, out of core at about 20 units/s, or faster than in core, up to 2000.
Points two_regimes(Random& random, int in_core, int out_of_core, double speed = 20.0) {
  Points points;
  for (int i = 1; i <= in_core; ++i) {
    const double units = 500.0 * i / in_core;
    points.push_back({units, units / uniform(random, 80.0, 120.0)});
  }
  for (int i = 1; i <= out_of_core; ++i) {
    const double units = 500.0 + 1500.0 * i / out_of_core;
    points.push_back({units, units / (speed * uniform(random, 0.75, 1.25))});
  }
  return points;
}

/// The same predictions up to `limit`.
void require_same(const SpeedModel& model, const SpeedModel& other, double limit) {
  REQUIRE(model.max_units() == other.max_units());
  for (double units = 0.0; units < limit; units += 7.0) {
    REQUIRE(model.time_s(units) == other.time_s(units));
    REQUIRE(model.speed(units) == other.speed(units));
  }
  for (const MeasuredPoint& point : other.points()) REQUIRE(model.time_s(point.units) == other.time_s(point.units));
}

}  // namespace

TEST_CASE("time is 0 for no work, work over speed, continuous where the kind is, and endless for what does not fit") {
  Random random(1);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const bool starts_slowly = kind == Kind::saturating || kind == Kind::sine_plateau;
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_limited_model(random, kind);
    const double limit = model->max_units();
    REQUIRE(model->time_s(0.0) == 0.0);
    if (kind != Kind::table) REQUIRE((starts_slowly || model->speed(0.0) > 0.0));
    std::vector<double> sizes{1e-100, 1e-6, 1.0, 1e6 * most_units, 1e100, std::min(limit, 1e9)};
    for (const MeasuredPoint& point : model->points()) {
      for (const double factor : {1.0 - 1e-9, 1.0, 1.0 + 1e-9}) sizes.push_back(factor * point.units);
    }
    for (int i = 0; i < 50; ++i) sizes.push_back(uniform(random, 1e-6, 2.5 * most_units));
    for (const double units : sizes) {
      if (!model->fits(units)) {
        REQUIRE(units > limit);
        REQUIRE(model->speed(units) == 0.0);
        REQUIRE(model->time_s(units) == infinity);
      } else if (kind != Kind::table) {
        REQUIRE(model->time_s(units) > 0.0);
        REQUIRE(model->time_s(units) < infinity);
        REQUIRE_THAT(model->speed(units), WithinRel(units / model->time_s(units), 1e-12));
        const bool jumps = kind == Kind::sine_plateau || kind == Kind::out_of_core;
        if (jumps || !model->fits(units * (1.0 + 1e-12))) continue;
        REQUIRE_THAT(model->time_s(units * (1.0 + 1e-12)), WithinRel(model->time_s(units), 1e-6));
      }
    }
    REQUIRE(model->fits(std::nextafter(limit, infinity)) == (limit == infinity));
    REQUIRE(model->time_s(infinity) == infinity);
    for (const double bad : {-1e-300, -infinity, not_a_number}) {
      REQUIRE_THROWS_AS(model->time_s(bad), InvalidArgument);
      REQUIRE_THROWS_AS(model->speed(bad), InvalidArgument);
    }
  }
}

TEST_CASE(
    "units within a time are the most that fit into it and into memory, and never fewer than those whose time it is") {
  Random random(4);
  const Kind kind = continuous_kind();
  INFO(name_of(kind));
  const int trials = kind == Kind::sine_plateau ? 100 : 300;
  // Of shapes that wander between the points, narrow dips can be missed.
  const double depth = kind == Kind::akima || kind == Kind::polynomial ? 0.01 : 1e-9;
  for (int trial = 0; trial < trials; ++trial) {
    const auto model = random_limited_model(random, kind);
    const double limit = model->max_units();
    for (int i = 0; i < 20; ++i) {
      const double time_s = model->time_s(uniform(random, 1.0, 1.5 * most_units)) * uniform(random, 0.3, 1.5);
      const double units = model->units_within(time_s);
      INFO("trial " << trial << ": " << units << " of " << limit << " units within " << time_s << " s");
      REQUIRE(units >= 0.0);
      REQUIRE(units <= limit);
      REQUIRE(model->time_s(units) <= time_s * (1.0 + 1e-9));
      constexpr int steps = 400;
      const double end = std::min(limit, 10.0 * most_units);
      const double start = units * (1.0 + 1e-9);
      double shortest = infinity;
      for (int step = 1; step <= steps && start < end; ++step) {
        shortest = std::min(shortest, model->time_s(start + (end - start) * step / steps));
      }
      REQUIRE((start >= end || shortest > time_s * (1.0 - depth)));
    }
    for (const MeasuredPoint& point : model->points()) {
      if (model->fits(point.units)) {
        REQUIRE(model->units_within(model->time_s(point.units)) >= point.units * (1.0 - 1e-9));
      }
    }
    for (const double none : {0.0, -1.0, not_a_number}) REQUIRE(model->units_within(none) == 0.0);
    REQUIRE(model->units_within(infinity) == limit);
  }
}

TEST_CASE("no points, or points or a limit without meaning, make no model of any kind") {
  const Kind kind = any_kind();
  INFO(name_of(kind));
  CHECK_THROWS_AS(model_of(Points{{1.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  CHECK_THROWS_AS(model_of(Points{{2.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  CHECK_THROWS_AS(model_of(Points{{0.5, 1.0}, MeasuredPoint{}}, kind), InvalidArgument);
  for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(model_of(Points{{0.5, 1.0}, {1.0, bad}}, kind), InvalidArgument);
    CHECK_THROWS_AS(model_of(Points{{bad, 1.0}, {1.0, 1.0}}, kind), InvalidArgument);
    if (bad < infinity) CHECK_THROWS_AS(model_of(Points{{0.5, 1.0}, {1.0, 2.0}}, kind, bad), InvalidArgument);
  }
  if (kind != Kind::out_of_core) CHECK_THROWS_AS(model_of(Points{}, kind), InvalidArgument);
}

TEST_CASE("the fit error is the deviation of the times at all points that fit, dropped ones included") {
  Random random(15);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  int with_dropped = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const auto points = random_points(random, whole(random, 2, 12), most_units);
    const double limit = trial % 2 == 0 ? infinity : 0.5 * (points.front().units + points.back().units);
    const auto model = model_of(points, kind, limit);
    double squares = 0.0, largest = 0.0, count = 0.0, at_units = 0.0;
    for (const MeasuredPoint& point : points) {
      if (!model->fits(point.units)) continue;
      const double deviation = std::abs(model->time_s(point.units) - point.time_s) / point.time_s;
      squares += deviation * deviation;
      if (deviation > largest) at_units = point.units;
      largest = std::max(largest, deviation);
      ++count;
    }
    const FitError error = model->fit_error();
    REQUIRE_THAT(error.largest, WithinAbs(largest, 1e-12));
    REQUIRE_THAT(error.rms, WithinRel(std::sqrt(squares / count), 1e-9) || WithinAbs(0.0, 1e-12));
    if (largest > 1e-9) REQUIRE(error.at_units == at_units);
    with_dropped += model->dropped().empty() ? 0 : 1;
  }
  CHECK((with_dropped > 0) == (kind == Kind::increasing_time));
}

TEST_CASE("every kind that is listed can be built, has its own name and keeps the limit, and no other is found") {
  Random random(1);
  const Points points = random_points(random, 8, 100.0);
  std::set<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    CHECK(names.insert(kind.name).second);
    CHECK(&find_model_kind(kind.name) == &kind);
    const SpeedModelPtr model = kind.build(points, points[5].units, {});
    CHECK(model->kind() == kind.name);
    CHECK(model->max_units() == points[5].units);
    CHECK(model->points().size() == points.size());
  }
  CHECK(names == std::set<std::string>{"constant", "piecewise_linear", "akima", "table", "polynomial", "shrunk",
                                       "saturating", "sine_plateau"});
  for (const std::string bad : {"", "spline", "Constant", "out_of_core"}) {
    CHECK_THROWS_MATCHES(find_model_kind(bad), InvalidArgument, MessageMatches(ContainsSubstring("\"" + bad + "\"")));
  }
}

TEST_CASE("the shape reaches a piecewise linear model, in both regimes of memory") {
  Random random(2);
  FpmFile file;
  file.points = two_regimes(random, 12, 12);
  for (const std::size_t spike : {4, 16}) file.points[spike].time_s *= 100.0;
  for (const double in_core : {infinity, 510.0}) {
    file.in_core_units = in_core;
    CHECK(make_model(file, "piecewise_linear", Shape::as_measured)->dropped().empty());
    CHECK(make_model(file)->dropped().size() >= 2);
  }
}

TEST_CASE("a file's model has a regime for each memory that there are points of, each as if it were alone") {
  Random random(3);
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    for (int trial = 0; trial < 20; ++trial) {
      FpmFile file;
      file.in_core_units = trial % 4 == 0 ? 500.0 : 510.0;  // this size itself is in core
      file.max_units = trial % 2 == 0 ? infinity : 2500.0;
      const double speed = trial % 3 == 0 ? 400.0 : 20.0;
      file.points = two_regimes(random, whole(random, 1, 8), whole(random, 1, 8), speed);
      const auto split = std::find_if(file.points.begin(), file.points.end(),
                                      [](const MeasuredPoint& point) { return point.units > 500.0; });
      const Points inside(file.points.begin(), split), beyond(split, file.points.end());
      const SpeedModelPtr in_core = kind.build(inside, file.in_core_units, {});
      const SpeedModelPtr out_of_core = kind.build(beyond, file.max_units, {});
      const SpeedModelPtr model = make_model(file, kind.name);
      REQUIRE(model->kind() == kind.name);
      REQUIRE(model->max_units() == out_of_core->max_units());
      const auto regime = [&](double units) -> const SpeedModel& {
        return units <= file.in_core_units ? *in_core : *out_of_core;
      };
      for (int i = 0; i < 60; ++i) {
        const double edge = i % 2 == 0 ? file.in_core_units : std::nextafter(file.in_core_units, infinity);
        const double units = i < 2    ? edge
                             : i < 20 ? file.points[static_cast<std::size_t>(i) % file.points.size()].units
                                      : uniform(random, 0.0, 3000.0);
        REQUIRE(model->time_s(units) == regime(units).time_s(units));
        REQUIRE(model->speed(units) == regime(units).speed(units));
        if (!std::isfinite(model->time_s(units))) continue;
        const double time_s = model->time_s(units) * (i < 20 ? 1.0 : uniform(random, 0.2, 1.2));
        const double most = out_of_core->units_within(time_s);
        REQUIRE(model->units_within(time_s) == (most > file.in_core_units ? most : in_core->units_within(time_s)));
      }
      REQUIRE(model->dropped().size() == in_core->dropped().size() + out_of_core->dropped().size());
      // Points of one regime alone make one model: in core up to where that memory ends, beyond for all sizes.
      FpmFile one = file;
      one.points = inside;
      require_same(*make_model(one, kind.name), *in_core, 3000.0);
      one.points = beyond;
      require_same(*make_model(one, kind.name), *out_of_core, 3000.0);
      one = file;
      one.max_units = 450.0;  // memory that ends in core
      if (kind.name != "table") CHECK(make_model(one, kind.name)->max_units() == 450.0);
      one.max_units = one.in_core_units;
      require_same(*make_model(one, kind.name), *kind.build(one.points, one.in_core_units, {}), 600.0);
    }
  }
}

TEST_CASE("limits, points and times that make no model are refused with their values") {
  Random random(6);
  const Points points = two_regimes(random, 4, 4);
  const auto build = [](std::span<const MeasuredPoint> regime, double most) {
    return find_model_kind("constant").build(regime, most, {});
  };
  for (const double in_core : {750.0, 900.0}) {
    CHECK_THROWS_AS(OutOfCoreModel(points, in_core, 750.0, build), InvalidArgument);
  }
  // The last two leave no points in core or out of it.
  for (const double in_core : {0.0, -1.0, infinity, std::nan(""), 10.0, 2000.0}) {
    CHECK_THROWS_AS(OutOfCoreModel(points, in_core, infinity, build), InvalidArgument);
  }
  // Times that no clock tells or nobody waits for.
  for (const double time_s : {1e-299, 9e-16, 2e15, 1e308}) {
    FpmFile file;
    file.points = points;
    file.points[3].time_s = time_s;
    for (const ModelKind& kind : model_kinds()) {
      CHECK_THROWS_MATCHES(make_model(file, kind.name), InvalidArgument,
                           MessageMatches(ContainsSubstring("500 computation units in")));
    }
  }
}

}  // namespace steelyard::test_speed_model
