// Laws that every kind of model obeys; what one kind promises beyond them is in that kind's test.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

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

/// Every kind.
Kind any_kind() {
  return GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::unimodal, Kind::akima,
                  Kind::polynomial, Kind::shrunk, Kind::saturating, Kind::sine_plateau, Kind::table, Kind::out_of_core);
}

/// Whether speed vanishes towards no work, where the time is then that of starting.
bool starts_slowly(Kind kind) { return kind == Kind::saturating || kind == Kind::sine_plateau; }

/// Sizes at which a model may behave oddly, and others: around each point, and at random.
std::vector<double> telling_sizes(Random& random, const SpeedModel& model) {
  std::vector<double> sizes;
  for (const MeasuredPoint& point : model.points()) {
    for (const double factor : {1.0 - 1e-9, 1.0, 1.0 + 1e-9}) sizes.push_back(factor * point.units);
  }
  for (int i = 0; i < 50; ++i) sizes.push_back(uniform(random, 1e-6, 2.5 * most_units));
  return sizes;
}

void require_same_predictions(const SpeedModel& a, const SpeedModel& b) {
  REQUIRE(a.kind() == b.kind());
  REQUIRE(a.max_units() == b.max_units());
  REQUIRE(a.points().size() == b.points().size());
  REQUIRE(a.dropped().size() == b.dropped().size());
  for (std::size_t i = 0; i < a.points().size(); ++i) {
    REQUIRE(a.points()[i].units == b.points()[i].units);
    REQUIRE(a.points()[i].time_s == b.points()[i].time_s);
    REQUIRE(a.time_s(a.points()[i].units) == b.time_s(a.points()[i].units));
  }
  for (double units = 1.0; units < 2.0 * most_units; units *= 1.37) {
    REQUIRE(a.time_s(units) == b.time_s(units));
    REQUIRE(a.units_within(1e-3 * units) == b.units_within(1e-3 * units));
  }
}

/// The least a kind has to define: a second a unit.
class Plain : public SpeedModel {
 public:
  explicit Plain(double max_units = infinity) : SpeedModel(max_units) {}
  std::string kind() const override { return "plain"; }

 private:
  double fitted_speed(double) const override { return 1.0; }
  void refit() override {}
};

/// Through the last of its points, of which it takes no more than three.
class Fussy : public SpeedModel {
 public:
  explicit Fussy(std::span<const MeasuredPoint> points) : SpeedModel(points, infinity) { Fussy::refit(); }
  std::string kind() const override { return "fussy"; }

 private:
  double fitted_speed(double) const override { return speed_; }
  void refit() override {
    speed_ = points().back().speed();
    if (points().size() > 3) throw InvalidArgument("too many points");
  }
  double speed_ = 0.0;
};

}  // namespace

TEST_CASE("a model is unbounded unless its kind says otherwise") { CHECK(Plain().max_units() == infinity); }

TEST_CASE("no work takes no time and work takes some") {
  Random random(1);
  const Kind kind = continuous_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    REQUIRE(model->time_s(0.0) == 0.0);
    REQUIRE((starts_slowly(kind) || model->speed(0.0) > 0.0));
    REQUIRE(model->time_s(std::numeric_limits<double>::denorm_min()) >= 0.0);
    REQUIRE(model->time_s(infinity) == infinity);
    for (const double units : {1e-100, 1e-6, 1.0, most_units, 1e6 * most_units, 1e100}) {
      REQUIRE(model->time_s(units) > 0.0);
      REQUIRE(model->time_s(units) < infinity);
    }
  }
}

TEST_CASE("speed is work over time and at 0 the limit for small work") {
  Random random(2);
  const Kind kind = continuous_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    REQUIRE_THAT(model->speed(0.0),
                 WithinRel(model->speed(1e-9), 1e-9) || WithinAbs(model->speed(1e-9), 1e-6 * model->speed(1.0)));
    for (const double units : telling_sizes(random, *model)) {
      REQUIRE_THAT(model->speed(units), WithinRel(units / model->time_s(units), 1e-12));
    }
  }
}

TEST_CASE("time is continuous in work, at the points and between them") {
  Random random(3);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured, Kind::unimodal, Kind::akima,
                             Kind::polynomial, Kind::shrunk, Kind::saturating);
  INFO(name_of(kind));
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    for (const double units : telling_sizes(random, *model)) {
      REQUIRE_THAT(model->time_s(units * (1.0 + 1e-12)), WithinRel(model->time_s(units), 1e-6));
    }
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
    const auto model = random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
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

TEST_CASE("units within a time are the inverse of time where time grows with work") {
  Random random(5);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::unimodal, Kind::saturating);
  INFO(name_of(kind));
  for (int trial = 0; trial < 300; ++trial) {
    const auto model = random_model(random, kind, most_units);
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 1e-3, 3.0 * most_units);
      const double time_s = model->time_s(units);
      REQUIRE_THAT(model->time_s(model->units_within(time_s)), WithinRel(time_s, 1e-9));
      const double longer_s = model->time_s(units * 1.0001);
      REQUIRE(time_s < longer_s);
      // Where time hardly grows, rounding it moves the size.
      const double steepness = (longer_s / time_s - 1.0) / 0.0001;
      if (steepness > 1e-6) REQUIRE_THAT(model->units_within(time_s), WithinRel(units, 1e-6));
    }
  }
}

TEST_CASE("the time of a size is enough for that size") {
  Random random(9);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
    for (const MeasuredPoint& point : model->points()) {
      if (!model->fits(point.units)) continue;
      REQUIRE(model->units_within(model->time_s(point.units)) >= point.units * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("more time never means fewer units") {
  Random random(6);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const int trials = kind == Kind::sine_plateau ? 30 : 100;
  for (int trial = 0; trial < trials; ++trial) {
    const auto model = random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
    double before = 0.0;
    for (double time_s = 1e-7; time_s < 1e3; time_s *= 1.05) {
      const double units = model->units_within(time_s);
      REQUIRE(units >= before * (1.0 - 1e-12));
      before = units;
    }
  }
}

TEST_CASE("no time leaves no units and endless time all that fit") {
  Random random(7);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 50; ++trial) {
    const auto model = random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
    REQUIRE(model->units_within(0.0) == 0.0);
    REQUIRE(model->units_within(-1.0) == 0.0);
    REQUIRE(model->units_within(not_a_number) == 0.0);
    REQUIRE(model->units_within(infinity) == model->max_units());
  }
}

TEST_CASE("what does not fit has no speed and takes forever") {
  Random random(10);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 50; ++trial) {
    const auto model = random_model(random, kind, most_units, uniform(random, 1.0, 1.5 * most_units));
    const double limit = model->max_units();
    REQUIRE(limit < infinity);
    REQUIRE(model->fits(limit));
    REQUIRE(model->time_s(limit) < infinity);
    for (const double units : {std::nextafter(limit, infinity), 1.001 * limit, 1e9 * limit, infinity}) {
      REQUIRE_FALSE(model->fits(units));
      REQUIRE(model->speed(units) == 0.0);
      REQUIRE(model->time_s(units) == infinity);
    }
  }
}

TEST_CASE("work that is negative or not a number is refused with its value") {
  Random random(8);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const auto model = random_model(random, kind, most_units);
  for (const double bad : {-1.0, -1e-300, -infinity, not_a_number}) {
    CHECK_THROWS_AS(model->time_s(bad), InvalidArgument);
    CHECK_THROWS_AS(model->speed(bad), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(model->time_s(-17.5), InvalidArgument, MessageMatches(ContainsSubstring("-17.5")));
  CHECK_THROWS_MATCHES(Plain().time_s(-17.5), InvalidArgument, MessageMatches(ContainsSubstring("-17.5")));
}

TEST_CASE("a model has the points that it was made of") {
  Random random(11);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const auto points = random_points(random, 9, most_units);
  const auto model = model_of(points, kind);
  REQUIRE(model->points().size() == points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(model->points()[i].units == points[i].units);
    CHECK(model->points()[i].time_s == points[i].time_s);
  }
}

TEST_CASE("no points, or points or a limit without meaning, make no model of any kind") {
  const Kind kind = any_kind();
  INFO(name_of(kind));
  using Points = std::vector<MeasuredPoint>;
  CHECK_THROWS_AS(model_of(Points{{1.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  CHECK_THROWS_AS(model_of(Points{{2.0, 1.0}, {1.0, 2.0}}, kind), InvalidArgument);
  for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(model_of(Points{{0.5, 1.0}, {1.0, bad}}, kind), InvalidArgument);
    CHECK_THROWS_AS(model_of(Points{{bad, 1.0}, {1.0, 1.0}}, kind), InvalidArgument);
  }
  for (const double bad : {0.0, -1.0, not_a_number}) {
    CHECK_THROWS_AS(model_of(Points{{0.5, 1.0}, {1.0, 2.0}}, kind, bad), InvalidArgument);
  }
  if (kind != Kind::out_of_core) CHECK_THROWS_AS(model_of(Points{}, kind), InvalidArgument);
}

TEST_CASE("a model updated point by point is the model of all points, in whatever order they come") {
  Random random(12);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  for (int trial = 0; trial < 20; ++trial) {
    const auto points = random_points(random, whole(random, 2, 12), most_units);
    const auto whole_model = model_of(points, kind);
    // The first and the last one have to be there, so that both regimes of an out-of-core model have a point.
    const double middle = tests::middle_of(points, infinity);
    const std::vector<MeasuredPoint> ends{points.front(), points.back()};
    const SpeedModelPtr model =
        kind == Kind::out_of_core ? std::make_unique<OutOfCoreModel>(ends, middle, infinity,
                                                                     [](tests::Points regime, double most) {
                                                                       return model_of(regime, Kind::as_measured, most);
                                                                     })
                                  : model_of(ends, kind);
    std::vector<MeasuredPoint> others(points.begin() + 1, points.end() - 1);
    std::shuffle(others.begin(), others.end(), random);
    for (const MeasuredPoint& point : others) model->update(point);
    require_same_predictions(*model, *whole_model);
  }
}

TEST_CASE("a point of a size that is already there takes its place") {
  Random random(13);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  auto points = random_points(random, 8, most_units);
  const auto model = model_of(points, kind);
  for (MeasuredPoint& point : points) {
    point.time_s *= uniform(random, 0.5, 2.0);
    point.repetitions = 17;
    model->update(point);
    REQUIRE(model->points().size() == points.size());
  }
  require_same_predictions(*model, *model_of(points, kind));
  CHECK(model->points()[3].repetitions == 17);
}

TEST_CASE("an update with a point without meaning is refused and leaves the model as it was") {
  Random random(14);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  const auto points = random_points(random, 8, most_units);
  const auto model = model_of(points, kind);
  for (const double bad : {0.0, -1.0, infinity, not_a_number}) {
    CHECK_THROWS_AS(model->update({bad, 1.0}), InvalidArgument);
    CHECK_THROWS_AS(model->update({1.0, bad}), InvalidArgument);
  }
  require_same_predictions(*model, *model_of(points, kind));
}

TEST_CASE("an update that cannot be fitted is refused and leaves the model as it was") {
  const std::vector<MeasuredPoint> points{{1.0, 1.0}, {2.0, 1.5}, {3.0, 2.0}};
  Fussy model(points);
  CHECK_THROWS_AS(model.update({4.0, 1.0}), InvalidArgument);
  CHECK(model.points().size() == 3);
  CHECK(model.speed(1.0) == 1.5);
  model.update({3.0, 1.0});
  CHECK(model.speed(1.0) == 3.0);
}

TEST_CASE("the fit error is the deviation of the times at all points, dropped ones included") {
  Random random(15);
  const Kind kind = any_kind();
  INFO(name_of(kind));
  int with_dropped = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const auto model = model_of(random_points(random, whole(random, 2, 12), most_units), kind);
    double squares = 0.0, largest = 0.0;
    for (const MeasuredPoint& point : model->points()) {
      const double deviation = std::abs(model->time_s(point.units) - point.time_s) / point.time_s;
      squares += deviation * deviation;
      largest = std::max(largest, deviation);
    }
    const FitError error = model->fit_error();
    REQUIRE_THAT(error.largest, WithinAbs(largest, 1e-12));
    REQUIRE_THAT(error.rms, WithinRel(std::sqrt(squares / static_cast<double>(model->points().size())), 1e-9) ||
                                WithinAbs(0.0, 1e-12));
    if (largest > 1e-9) {
      const auto at = std::find_if(model->points().begin(), model->points().end(),
                                   [&](const MeasuredPoint& point) { return point.units == error.at_units; });
      REQUIRE(at != model->points().end());
      REQUIRE_THAT(std::abs(model->time_s(at->units) / at->time_s - 1.0), WithinAbs(largest, 1e-12));
    }
    for (const MeasuredPoint& point : model->dropped()) {
      ++with_dropped;
      REQUIRE(error.largest >= std::abs(model->time_s(point.units) / point.time_s - 1.0) * (1.0 - 1e-12));
    }
  }
  CHECK((with_dropped > 0) == (kind == Kind::increasing_time || kind == Kind::unimodal));
}

TEST_CASE("points that do not fit into memory do not count in the fit error") {
  const std::vector<MeasuredPoint> points{{10.0, 1.0}, {20.0, 2.0}, {30.0, 9.0}};
  const auto model = model_of(points, Kind::as_measured, 25.0);
  CHECK_THAT(model->fit_error().largest, WithinAbs(0.0, 1e-12));
}

}  // namespace steelyard::test_speed_model
