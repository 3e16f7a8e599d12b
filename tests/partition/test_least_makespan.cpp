// Algorithms on models against the least makespan of all splits, and what they promise for more than that can be asked.

#include "partition/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_least_makespan {

using namespace steelyard::partition;
using namespace steelyard::tests;
using models::AkimaModel;
using models::ConstantModel;

namespace {

/// Smooth speed that rises to a plateau and falls a little beyond, such that time grows everywhere.
models::SpeedModelPtr smooth(Random& random, double most_units) {
  const double speed = std::exp(uniform(random, 3.0, 8.0));
  const double half = most_units * uniform(random, 0.001, 0.3);
  std::vector<models::MeasuredPoint> points;
  for (int i = 1; i <= 12; ++i) {
    const double units = most_units * std::pow(2.0, i - 12);
    points.push_back({units, (units + half) / speed * (1.0 + 0.1 * units / most_units)});
  }
  return std::make_unique<AkimaModel>(points);
}

models::SpeedModelPtr wandering(Random& random, double most_units, double limit = infinity) {
  return std::make_unique<AkimaModel>(tests::random_points(random, whole(random, 2, 9), most_units), limit);
}

enum class Family { constant, growing, any };

/// Roomy enough together for `total`.
tests::Units random_units(Random& random, Family family, int count, int total) {
  tests::Units units;
  for (int i = 0; i < count; ++i) {
    const double limit = i == 0 ? total + 0.5 : tests::random_limit(random, 0.5, total + 1.0);
    if (family == Family::any) {
      units.add(whole(random, 0, 2) == 0 ? wandering(random, 1.5 * total, limit)
                                         : tests::any_model(random, 1.5 * total, limit));
    } else {
      const bool constant = family == Family::constant || whole(random, 0, 3) == 0;
      units.add(random_model(random, constant ? Kind::constant : Kind::increasing_time, total + 1.0, limit));
    }
  }
  return units;
}

void compare(Family family, int count, int most, int trials) {
  Random random(static_cast<std::uint64_t>(100 * count + static_cast<int>(family)));
  for (int trial = 0; trial < trials; ++trial) {
    const int total = whole(random, 1, most);
    tests::Units units = random_units(random, family, count, total);
    if (trial % 4 == 0) std::ranges::fill(units.models, units.models.front());
    INFO("total " << total << " over " << count << ", trial " << trial);
    const double least_s = tests::least_makespan_s(total, units.models);
    for (const char* name : {"numerical", "hpopta", "exact"}) {
      const Algorithm algorithm = find_algorithm(name);
      if (std::isinf(least_s)) {
        REQUIRE_THROWS_AS(algorithm.distribute(total, units.models), InvalidArgument);
      } else {
        const Distribution split = algorithm.distribute(total, units.models);
        REQUIRE(sum(split.units) == total);
        REQUIRE(split.makespan_s() == least_s);
      }
    }
    if (family == Family::constant) REQUIRE(constant(total, units.models).makespan_s() == least_s);
    if (family == Family::any) continue;
    REQUIRE(geometric(total, units.models).makespan_s() == least_s);
  }
}

}  // namespace

TEST_CASE("numerical, hpopta and exact find the least makespan of models of any kind and limits, or that none exists") {
  compare(Family::any, 1, 200, 100);
  compare(Family::any, 2, 300, 300);
  compare(Family::any, 3, 60, 400);
  compare(Family::any, 4, 30, 300);
  compare(Family::any, 5, 16, 200);
}

TEST_CASE("geometric finds the least makespan where time grows, constant where speeds are") {
  for (const Family family : {Family::growing, Family::constant}) {
    compare(family, 1, 40, 60);
    compare(family, 2, 100, 200);
    compare(family, 3, 40, 100);
    compare(family, 4, 8, 200);
    compare(family, 4, 40, 60);
  }
}

TEST_CASE("slices of more work are never slower than even, and end together within one unit of it where time grows") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const bool wanders = trial % 4 == 0;
    const int total = whole(random, 1, wanders ? 40000 : trial % 2 == 0 ? 3000 : 200000);
    tests::Units units;
    for (int i = whole(random, 1, wanders ? 15 : 30); i > 0; --i) {
      units.add(wanders          ? wandering(random, 5000.0)
                : trial % 3 == 0 ? random_model(random, Kind::increasing_time, 5000.0)
                                 : smooth(random, 20000.0));
    }
    INFO("total " << total << ", trial " << trial);
    const double even_s = even(total, units.models).makespan_s();
    const Distribution by_lines = geometric(total, units.models), by_curves = numerical(total, units.models);
    REQUIRE(sum(by_curves.units) == total);
    REQUIRE(by_curves.makespan_s() <= even_s);
    if (wanders) {
      REQUIRE(by_curves.makespan_s() <= by_lines.makespan_s());
      continue;
    }
    const double exact_s = total <= 3000 ? find_algorithm("exact").distribute(total, units.models).makespan_s() : 0.0;
    for (const Distribution& split : {by_lines, by_curves}) {
      REQUIRE(sum(split.units) == total);
      REQUIRE(split.makespan_s() <= even_s);
      for (std::size_t i = 0; i < split.units.size(); ++i) {
        REQUIRE(units.models[i]->time_s(static_cast<double>(split.units[i] + 1)) >= split.makespan_s() * (1.0 - 1e-12));
      }
      if (total <= 3000) REQUIRE_THAT(split.makespan_s(), WithinRel(exact_s, 1e-9));
    }
  }
}

TEST_CASE("ten thousand units are split, and equal ones get equal slices from the lowest index on") {
  Random random(4);
  tests::Units mixed, smooth_or_not;
  for (int i = 0; i < 10000; ++i) {
    mixed.add(random_model(random, static_cast<Kind>(i % 3), 200.0));
    smooth_or_not.add(i % 3 == 0 ? smooth(random, 200.0) : wandering(random, 200.0));
  }
  for (const std::int64_t total : {1, 9999, 1234567}) {
    CHECK(sum(geometric(total, mixed.models).units) == total);
    CHECK(sum(numerical(total, smooth_or_not.models).units) == total);
  }
  const ConstantModel model(3.0);
  const Distribution split = geometric(25000, std::vector<const models::SpeedModel*>(10000, &model));
  for (std::size_t i = 0; i < 10000; ++i) REQUIRE(split.units[i] == (i < 5000 ? 3 : 2));
}

TEST_CASE("huge totals are split without an overflow") {
  const ConstantModel one(1.0), three(3.0), bounded(5.0, 1e6);
  const std::vector<const models::SpeedModel*> models = {&one, &three, &bounded};
  for (const std::int64_t total : {std::int64_t{1} << 40, std::int64_t{1} << 53, std::int64_t{1} << 60,
                                   std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    const Distribution split = geometric(total, models);
    CHECK(split.units[0] + split.units[1] + split.units[2] == total);
    CHECK(split.units[2] == 1000000);
    CHECK_THAT(static_cast<double>(split.units[1]), WithinRel(0.75 * static_cast<double>(total), 1e-5));
    if (total > std::int64_t{1} << 62) continue;
    const Distribution other = numerical(total, models);
    CHECK(sum(other.units) == total);
    CHECK(other.units[2] <= 1000000);
    CHECK(other.makespan_s() <= split.makespan_s());
  }
  const std::vector<const models::SpeedModel*> many(1000, &one);
  CHECK(sum(geometric(std::int64_t{1} << 60, many).units) == std::int64_t{1} << 60);
}

TEST_CASE("speeds as far apart as numbers can be are shared out as others, and times beyond numbers are refused") {
  constexpr std::int64_t total = 1'000'000'000'000;
  for (const double slow : {1e-300, 1.0}) {
    const ConstantModel least(slow);
    for (const double fast : {2.0, 1e200, 1e300}) {
      const ConstantModel most(fast);
      const std::vector<const models::SpeedModel*> models{&least, &most};
      for (const Distribution& found : {geometric(total, models), constant(total, models)}) {
        const double share = static_cast<double>(total) * slow / (slow + fast);
        CHECK(sum(found.units) == total);
        CHECK(std::abs(static_cast<double>(found.units[0]) - share) <= 1.0 + 1e-9 * share);
      }
    }
  }
  const ConstantModel never(1e-300);
  const std::vector<const models::SpeedModel*> models{&never, &never};
  CHECK_THROWS_AS(geometric(total, models), InvalidArgument);
  CHECK_THROWS_AS(constant(total, models), InvalidArgument);
}

}  // namespace steelyard::test_least_makespan
