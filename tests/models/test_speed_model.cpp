// Laws that every kind of model obeys; what one kind promises beyond them is in that kind's test.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/speed_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_speed_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
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

void require_same_predictions(const SpeedModel& a, const SpeedModel& b) {
  REQUIRE(a.kind() == b.kind());
  REQUIRE(a.max_units() == b.max_units());
  REQUIRE(a.points().size() == b.points().size());
  REQUIRE(a.dropped().size() == b.dropped().size());
  for (std::size_t i = 0; i < a.points().size(); ++i) {
    REQUIRE(a.points()[i].units == b.points()[i].units);
    REQUIRE(a.points()[i].time_s == b.points()[i].time_s);
    REQUIRE(a.points()[i].repetitions == b.points()[i].repetitions);
    REQUIRE(a.time_s(a.points()[i].units) == b.time_s(a.points()[i].units));
  }
  for (double units = 1.0; units < 2.0 * most_units; units *= 1.37) {
    REQUIRE(a.time_s(units) == b.time_s(units));
    REQUIRE(a.units_within(1e-3 * units) == b.units_within(1e-3 * units));
  }
}

/// Any time by size; takes no more than three points.
class Given : public SpeedModel {
 public:
  using Time = std::function<double(double units)>;
  explicit Given(Time time, double max_units = infinity) : SpeedModel(max_units), time_(std::move(time)) {}
  explicit Given(std::span<const MeasuredPoint> points) : SpeedModel(points, infinity) { Given::refit(); }
  std::string kind() const override { return "given"; }

 private:
  double fitted_speed(double units) const override { return units / time_(units); }
  void refit() override {
    time_ = [last = points().back()](double units) { return units / last.speed(); };
    if (points().size() > 3) throw InvalidArgument("too many points");
  }
  Time time_;
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

TEST_CASE(
    "a model updated point by point, some of them twice, is the model of all points in whatever order they come") {
  Random random(12);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 20; ++trial) {
    const auto points = random_points(random, whole(random, 2, 12), most_units);
    // The first and the last one have to be there, so that both regimes of an out-of-core model have a point.
    const double middle = tests::middle_of(points, infinity);
    const auto build = [](tests::Points regime, double most) { return model_of(regime, Kind::as_measured, most); };
    const std::vector<MeasuredPoint> ends{points.front(), points.back()};
    const SpeedModelPtr model = kind == Kind::out_of_core
                                    ? std::make_unique<OutOfCoreModel>(ends, middle, infinity, build)
                                    : model_of(ends, kind);
    std::vector<MeasuredPoint> others(points.begin() + 1, points.end());
    std::shuffle(others.begin(), others.end(), random);
    for (const MeasuredPoint& point : others) {
      if (whole(random, 0, 1) == 0) model->update({point.units, uniform(random, 0.1, 10.0), 17});
      model->update(point);
    }
    for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
      CHECK_THROWS_AS(model->update({bad, 1.0}), InvalidArgument);
      CHECK_THROWS_AS(model->update({1.0, bad}), InvalidArgument);
    }
    require_same_predictions(*model, *model_of(points, kind));
  }
}

TEST_CASE("an update that cannot be fitted is refused and leaves the model as it was") {
  const std::vector<MeasuredPoint> points{{1.0, 1.0}, {2.0, 1.5}, {3.0, 2.0}};
  Given model(points);
  CHECK_THROWS_AS(model.update({4.0, 1.0}), InvalidArgument);
  CHECK(model.points().size() == 3);
  CHECK(model.speed(1.0) == 1.5);
  model.update({3.0, 1.0});
  CHECK(model.speed(1.0) == 3.0);
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

TEST_CASE("where time grows, the largest size within it is its inverse, with any breakpoints or none") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const double power = uniform(random, 0.2, 3.0), scale = std::exp(uniform(random, -20.0, 20.0));
    const Given model([=](double units) { return scale * std::pow(units, power); });
    const double units = std::exp(uniform(random, -8.0, 12.0));
    const auto breakpoints = even_breakpoints(whole(random, 0, 12), 1000.0);
    const double found = largest_size_within(model, model.time_s(units), breakpoints);
    INFO("size " << units << ", power " << power << ", " << breakpoints.size() << " breakpoints");
    REQUIRE_THAT(found, WithinRel(units, 1e-12));
  }
  CHECK(largest_size_within(Given([](double units) { return units; }), infinity, {}) == infinity);
}

TEST_CASE("a valley as wide as a part of its gap, the limit and a jump at a breakpoint are found") {
  const Given valley([](double units) {
    const double x = (units - 70.0) / 4.0;
    return units * (1.0 - 0.5 * std::exp(-x * x));
  });
  const double found = largest_size_within(valley, 50.0, even_breakpoints(1, 100.0));
  CHECK(found > 70.0);
  CHECK_THAT(valley.time_s(found), WithinRel(50.0, 1e-9));
  const Given falls([](double units) { return units < 90.0 ? units : 180.0 - units; }, 100.0);
  CHECK(largest_size_within(falls, 80.0, even_breakpoints(3, 90.0)) == 100.0);
  CHECK(largest_size_within(falls, 79.0, even_breakpoints(3, 90.0)) == 79.0);
  const Given jumps([](double units) { return units <= 50.0 ? units : 0.5 * units; });
  const std::vector<double> breakpoints{50.0, std::nextafter(50.0, 100.0)};
  CHECK_THAT(largest_size_within(jumps, 30.0, breakpoints), WithinRel(60.0, 1e-12));
  CHECK(largest_size_within(jumps, 25.0 * (1.0 + 1e-15), breakpoints) >= 50.0);
  CHECK_THAT(largest_size_within(jumps, 24.0, breakpoints), WithinRel(24.0, 1e-12));
}

}  // namespace steelyard::test_speed_model
