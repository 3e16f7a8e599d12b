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

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard;
using namespace steelyard::models;
using tests::Kind;
using tests::Random;
using tests::random_limit;
using tests::random_model;
using tests::uniform;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double most_units = 1000.0;

/// The least a kind has to define: a second a unit.
class Plain : public SpeedModel {
 public:
  explicit Plain(double max_units = infinity) : SpeedModel(max_units) {}
  std::string kind() const override { return "plain"; }

 private:
  double fitted_speed(double) const override { return 1.0; }
  void refit() override {}
};

}  // namespace

TEST_CASE("a model is unbounded unless its kind says otherwise") { CHECK(Plain().max_units() == infinity); }

TEST_CASE("no work takes no time and work takes some") {
  Random random(1);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    REQUIRE(model->time_s(0.0) == 0.0);
    REQUIRE(model->speed(0.0) > 0.0);
    REQUIRE(model->time_s(std::numeric_limits<double>::denorm_min()) >= 0.0);
    REQUIRE(model->time_s(1e-6) > 0.0);
    REQUIRE(model->time_s(infinity) == infinity);
  }
}

TEST_CASE("speed is work over time and at 0 the limit for small work") {
  Random random(2);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    REQUIRE_THAT(model->speed(0.0), WithinRel(model->speed(1e-9), 1e-9));
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 1e-6, 2.5 * most_units);
      REQUIRE_THAT(model->speed(units), WithinRel(units / model->time_s(units), 1e-12));
    }
  }
}

TEST_CASE("time is continuous in work") {
  Random random(3);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 100; ++trial) {
    const auto model = random_model(random, kind, most_units);
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 1.0, 2.5 * most_units);
      REQUIRE_THAT(model->time_s(units * (1.0 + 1e-12)), WithinRel(model->time_s(units), 1e-6));
    }
  }
}

TEST_CASE("units within a time are the most that fit into it and into memory") {
  Random random(4);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 300; ++trial) {
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
      for (int step = 1; step <= steps && start < end; ++step) {
        const double larger = start + (end - start) * step / steps;
        REQUIRE(model->time_s(larger) > time_s * (1.0 - 1e-9));
      }
    }
  }
}

TEST_CASE("units within a time are the inverse of time where time grows with work") {
  Random random(5);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time);
  for (int trial = 0; trial < 300; ++trial) {
    const auto model = random_model(random, kind, most_units);
    for (int i = 0; i < 50; ++i) {
      const double units = uniform(random, 1e-3, 3.0 * most_units);
      const double time_s = model->time_s(units);
      REQUIRE_THAT(model->time_s(model->units_within(time_s)), WithinRel(time_s, 1e-9));
      REQUIRE(model->time_s(units) < model->time_s(units * 1.0001));
      REQUIRE_THAT(model->units_within(time_s), WithinRel(units, 1e-6));
    }
  }
}

TEST_CASE("more time never means fewer units") {
  Random random(6);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 100; ++trial) {
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
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  for (int trial = 0; trial < 50; ++trial) {
    const auto model = random_model(random, kind, most_units, random_limit(random, 1.0, 1.5 * most_units));
    REQUIRE(model->units_within(0.0) == 0.0);
    REQUIRE(model->units_within(-1.0) == 0.0);
    REQUIRE(model->units_within(not_a_number) == 0.0);
    REQUIRE(model->units_within(infinity) == model->max_units());
  }
}

TEST_CASE("work that is negative or not a number is refused with its value") {
  Random random(8);
  const Kind kind = GENERATE(Kind::constant, Kind::increasing_time, Kind::as_measured);
  const auto model = random_model(random, kind, most_units);
  for (const double bad : {-1.0, -1e-300, -infinity, not_a_number}) {
    CHECK_THROWS_AS(model->time_s(bad), InvalidArgument);
    CHECK_THROWS_AS(model->speed(bad), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(model->time_s(-17.5), InvalidArgument, MessageMatches(ContainsSubstring("-17.5")));
  CHECK_THROWS_MATCHES(Plain().time_s(-17.5), InvalidArgument, MessageMatches(ContainsSubstring("-17.5")));
}
