// Laws that every kind of model obeys; what one kind promises beyond them is in that kind's test.
#include <functional>
#include <memory>

#include "models/speed_model.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_speed_model {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double most_units = 1000.0;

/// Every kind that knows all sizes.
Kind continuous_kind() {
  return GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::unimodal, Kind::akima,
                  Kind::polynomial, Kind::shrunk, Kind::saturating, Kind::sine_plateau, Kind::out_of_core);
}

Kind any_kind() {
  return GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::unimodal, Kind::akima,
                  Kind::polynomial, Kind::shrunk, Kind::saturating, Kind::sine_plateau, Kind::table, Kind::out_of_core);
}

SpeedModelPtr random_limited_model(Random& random, Kind kind) {
  return random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
}

/// Any time by size.
class Given : public SpeedModel {
 public:
  using Time = std::function<double(double units)>;
  explicit Given(Time time, std::vector<double> breakpoints = {}, double max_units = infinity)
      : SpeedModel(max_units), time_(std::move(time)), breakpoints_(std::move(breakpoints)) {}
  std::string kind() const override { return "given"; }
  std::vector<double> breakpoints() const override { return breakpoints_; }

 private:
  double fitted_speed(double units) const override { return units / time_(units); }
  Time time_;
  std::vector<double> breakpoints_;
};

std::vector<double> even_breakpoints(int count, double last) {
  std::vector<double> breakpoints;
  for (int i = 1; i <= count; ++i) breakpoints.push_back(last * i / count);
  return breakpoints;
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
    REQUIRE_THROWS_MATCHES(model->time_s(-17.5), InvalidArgument, MessageMatches(ContainsSubstring("-17.5")));
  }
}

TEST_CASE("units within a time are the most that fit into it and into memory") {
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
  }
}

TEST_CASE("units within a time never fall with it, are enough for a size whose time it is, none for no time and all") {
  Random random(6);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const int trials = kind == Kind::sine_plateau ? 30 : 100;
  for (int trial = 0; trial < trials; ++trial) {
    const auto model = random_limited_model(random, kind);
    double before = 0.0;
    for (double time_s = 1e-7; time_s < 1e3; time_s *= 1.05) {
      const double units = model->units_within(time_s);
      REQUIRE(units >= before * (1.0 - 1e-12));
      before = units;
    }
    for (const MeasuredPoint& point : model->points()) {
      if (!model->fits(point.units)) continue;
      REQUIRE(model->units_within(model->time_s(point.units)) >= point.units * (1.0 - 1e-9));
    }
    for (const double none : {0.0, -1.0, not_a_number}) REQUIRE(model->units_within(none) == 0.0);
    REQUIRE(model->units_within(infinity) == model->max_units());
  }
}

TEST_CASE("no points, or points or a limit without meaning, make no model of any kind") {
  const Kind kind = any_kind();
  INFO(name_of(kind));
  using Measured = std::vector<MeasuredPoint>;
  CHECK_THROWS_AS(model_of(Measured{{1.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  CHECK_THROWS_AS(model_of(Measured{{2.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  CHECK_THROWS_AS(model_of(Measured{{0.5, 1.0}, MeasuredPoint{}}, kind), InvalidArgument);
  for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(model_of(Measured{{0.5, 1.0}, {1.0, bad}}, kind), InvalidArgument);
    CHECK_THROWS_AS(model_of(Measured{{bad, 1.0}, {1.0, 1.0}}, kind), InvalidArgument);
    if (bad < infinity) CHECK_THROWS_AS(model_of(Measured{{0.5, 1.0}, {1.0, 2.0}}, kind, bad), InvalidArgument);
  }
  if (kind != Kind::out_of_core) CHECK_THROWS_AS(model_of(Measured{}, kind), InvalidArgument);
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
  CHECK((with_dropped > 0) == (kind == Kind::increasing_time || kind == Kind::unimodal));
}

TEST_CASE("where time grows, units within a time are its inverse, with any breakpoints or none") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const double power = uniform(random, 0.2, 3.0), scale = std::exp(uniform(random, -20.0, 20.0));
    const double units = std::exp(uniform(random, -8.0, 12.0));
    const auto breakpoints = even_breakpoints(whole(random, 0, 12), 1000.0);
    const Given model([=](double size) { return scale * std::pow(size, power); }, breakpoints);
    INFO("size " << units << ", power " << power << ", " << breakpoints.size() << " breakpoints");
    REQUIRE_THAT(model.units_within(model.time_s(units)), WithinRel(units, 1e-12));
  }
  CHECK(Given([](double units) { return units; }).units_within(infinity) == infinity);
}

TEST_CASE("a valley as wide as a part of its gap, the limit and a jump at a breakpoint are found") {
  const auto dip = [](double units) {
    const double x = (units - 70.0) / 4.0;
    return units * (1.0 - 0.5 * std::exp(-x * x));
  };
  const Given valley(dip, even_breakpoints(1, 100.0));
  const double found = valley.units_within(50.0);
  CHECK(found > 70.0);
  CHECK_THAT(valley.time_s(found), WithinRel(50.0, 1e-9));
  const Given falls([](double units) { return units < 90.0 ? units : 180.0 - units; }, even_breakpoints(3, 90.0),
                    100.0);
  CHECK(falls.units_within(80.0) == 100.0);
  CHECK(falls.units_within(79.0) == 79.0);
  const Given jumps([](double units) { return units <= 50.0 ? units : 0.5 * units; },
                    {50.0, std::nextafter(50.0, 100.0)});
  CHECK_THAT(jumps.units_within(30.0), WithinRel(60.0, 1e-12));
  CHECK(jumps.units_within(25.0 * (1.0 + 1e-15)) >= 50.0);
  CHECK_THAT(jumps.units_within(24.0), WithinRel(24.0, 1e-12));
}

}  // namespace steelyard::test_speed_model
