#include <set>

#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_model_kinds {

using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

TEST_CASE("every kind that is listed can be built, has its own name and keeps the limit, and no other is found") {
  Random random(1);
  const Points points = random_points(random, 8, 100.0);
  std::set<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    CHECK(names.insert(kind.name).second);
    CHECK_FALSE(kind.description.empty());
    CHECK(&find_model_kind(kind.name) == &kind);
    const SpeedModelPtr model = kind.build(points, points[5].units, {});
    CHECK(model->kind() == kind.name);
    CHECK(model->max_units() == points[5].units);
    CHECK(model->points().size() == points.size());
    for (const std::string bad : {"", "spline", "Constant", "out_of_core"}) {
      CHECK_THROWS_MATCHES(find_model_kind(bad), InvalidArgument,
                           MessageMatches(ContainsSubstring("\"" + bad + "\"") && ContainsSubstring(kind.name)));
    }
  }
  CHECK(names == std::set<std::string>{"constant", "piecewise_linear", "akima", "table", "polynomial", "shrunk",
                                       "saturating", "sine_plateau"});
}

TEST_CASE("options of a kind reach its model, in both regimes of memory") {
  Random random(2);
  FpmFile file;
  file.points = two_regimes(random, 12, 12);
  file.points[4].time_s *= 100.0;
  file.points[16].time_s *= 100.0;
  for (const double in_core : {infinity, 510.0}) {
    file.in_core_units = in_core;
    CHECK(make_model(file, "piecewise_linear", {.shape = Shape::as_measured})->dropped().empty());
    CHECK(make_model(file)->dropped().size() >= 2);
  }
  const ModelKind& polynomial = find_model_kind("polynomial");
  for (const int degree : {1, 2, 11}) {
    const SpeedModelPtr model = polynomial.build(file.points, infinity, {.degree = degree});
    CHECK(model->parameters().front().second == degree);
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
      Points dropped(in_core->dropped().begin(), in_core->dropped().end());
      dropped.insert(dropped.end(), out_of_core->dropped().begin(), out_of_core->dropped().end());
      REQUIRE(std::ranges::equal(model->dropped(), dropped, {}, &MeasuredPoint::units, &MeasuredPoint::units));
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
  const auto refused = [&](double in_core, double all, const std::string& what) {
    const auto build = [](std::span<const MeasuredPoint> regime, double most) {
      return find_model_kind("constant").build(regime, most, {});
    };
    CHECK_THROWS_MATCHES(OutOfCoreModel(points, in_core, all, build), InvalidArgument,
                         MessageMatches(ContainsSubstring(what)));
  };
  refused(750.0, 750.0, "750 units in core of 750");
  refused(900.0, 750.0, "900 units in core of 750");
  for (const double bad : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) refused(bad, infinity, "");
  refused(10.0, infinity, "0 of 8 points");
  refused(2000.0, infinity, "8 of 8 points");
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

TEST_CASE("the error of leaving one out is that of models of the other points, each at the point left out") {
  Random random(3);
  for (const ModelKind& kind : model_kinds()) {
    INFO(kind.name);
    const Points points = random_points(random, 9, 100.0);
    double squares = 0.0, largest = 0.0, at_units = 0.0;
    for (std::size_t left_out = 1; left_out < 8; ++left_out) {
      Points others = points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
      const double predicted = kind.build(others, infinity, {})->time_s(points[left_out].units);
      const double deviation = std::abs(predicted - points[left_out].time_s) / points[left_out].time_s;
      squares += deviation * deviation;
      if (deviation > largest) at_units = points[left_out].units;
      largest = std::max(largest, deviation);
    }
    const FitError error = leave_one_out_error(points, kind);
    CHECK_THAT(error.rms, WithinRel(std::sqrt(squares / 7.0), 1e-9));
    CHECK_THAT(error.largest, WithinRel(largest, 1e-9));
    CHECK(error.at_units == at_units);
    const FitError nothing = leave_one_out_error(std::span(points).first(2), kind);
    CHECK((nothing.rms == 0.0 && nothing.largest == 0.0));
  }
}

}  // namespace steelyard::test_model_kinds
