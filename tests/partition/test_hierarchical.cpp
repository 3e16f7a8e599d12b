#include <numeric>

#include "partition/hierarchical.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_hierarchical {

using namespace steelyard::partition;
using namespace steelyard::tests;
using models::AkimaModel;
using models::ConstantModel;
using models::PiecewiseLinearModel;
using Slices = std::vector<std::int64_t>;

namespace {

/// Numbers without gaps, in any order of the units.
std::vector<int> random_groups(Random& random, int units, int groups) {
  std::vector<int> group_of_unit;
  for (int i = 0; i < units; ++i) group_of_unit.push_back(i < groups ? i : whole(random, 0, groups - 1));
  std::ranges::shuffle(group_of_unit, random);
  return group_of_unit;
}

tests::Units random_units(Random& random, int count, Kind kind, double most_units) {
  tests::Units units;
  for (int i = 0; i < count; ++i) units.add(random_model(random, kind, most_units));
  return units;
}

void check_sums(const HierarchicalDistribution& split, std::int64_t total, std::span<const int> group_of_unit) {
  REQUIRE(sum(split.groups) == total);
  Slices sums(split.groups.size(), 0);
  for (std::size_t i = 0; i < group_of_unit.size(); ++i) {
    sums[static_cast<std::size_t>(group_of_unit[i])] += split.units.units[i];
  }
  REQUIRE(sums == split.groups);
}

}  // namespace

TEST_CASE("sums are exact on both levels for every pair of algorithms, and one level alone is the algorithm itself") {
  Random random(1);
  for (const Algorithm& outer : algorithms()) {
    for (const Algorithm& inner : algorithms()) {
      INFO(outer.name << " over " << inner.name);
      for (int trial = 0; trial < 5; ++trial) {
        const int count = whole(random, 1, 12), total = whole(random, 0, 600);
        const tests::Units units = random_units(random, count, static_cast<Kind>(whole(random, 0, 2)), 100.0);
        const auto group_of_unit = random_groups(random, count, whole(random, 1, count));
        check_sums(hierarchical(total, units.models, group_of_unit, outer, inner), total, group_of_unit);
        if (trial > 2) continue;
        std::vector<int> each(static_cast<std::size_t>(count));
        std::iota(each.begin(), each.end(), 0);
        const std::vector<int> all(static_cast<std::size_t>(count), 0);
        REQUIRE(hierarchical(total, units.models, all, outer, inner).units.units ==
                inner.distribute(total, units.models).units);
        REQUIRE(hierarchical(total, units.models, each, outer, inner).units.units ==
                outer.distribute(total, units.models).units);
      }
    }
  }
}

TEST_CASE("two levels of least makespan find the least of all splits: exact of any, the others where time grows") {
  Random random(3);
  for (const char* name : {"exact", "geometric", "numerical"}) {
    const Algorithm& algorithm = find_algorithm(name);
    const Kind kind = algorithm.name == "exact" ? Kind::as_measured : Kind::increasing_time;
    for (int trial = 0; trial < 150; ++trial) {
      INFO(name << ", trial " << trial);
      const int count = whole(random, 1, 5), total = whole(random, 1, kind == Kind::as_measured ? 40 : 200);
      tests::Units units;
      for (int i = 0; i < count; ++i) {
        const bool is_limited = i > 0 && kind == Kind::as_measured;
        const double limit = is_limited ? tests::random_limit(random, 0.5, total + 1.0) : infinity;
        units.add(random_model(random, kind, 1.5 * total, limit));
      }
      const auto group_of_unit = random_groups(random, count, whole(random, 1, count));
      const HierarchicalDistribution split = hierarchical(total, units.models, group_of_unit, algorithm, algorithm);
      check_sums(split, total, group_of_unit);
      REQUIRE(split.units.makespan_s() == tests::least_makespan_s(total, units.models));
    }
  }
}

TEST_CASE("a cluster of identical hybrid nodes is split by popta over nodes as fast as by all its units") {
  const Algorithm identical{"popta", "identical nodes", popta};
  Random random(4);
  for (int trial = 0; trial < 60; ++trial) {
    const int nodes = whole(random, 1, 4), total = whole(random, 0, 60);
    const auto cpu = tests::random_points(random, 6, 40.0), gpu = tests::random_points(random, 6, 40.0);
    tests::Units units;
    std::vector<int> group_of_unit;
    for (int node = 0; node < nodes; ++node) {
      // Each node has been read from its own file.
      units.add(std::make_unique<AkimaModel>(cpu));
      units.add(std::make_unique<AkimaModel>(gpu));
      group_of_unit.insert(group_of_unit.end(), 2, node);
    }
    const auto split = hierarchical(total, units.models, group_of_unit, identical, find_algorithm("exact"));
    check_sums(split, total, group_of_unit);
    REQUIRE(split.units.makespan_s() == tests::least_makespan_s(total, units.models));
  }
}

TEST_CASE("models are the same where points, kind, shape and limits are, and formulas only where they are one") {
  using models::Shape;
  const std::vector<models::MeasuredPoint> points = {{1, 1.0}, {2, 3.0}, {3, 2.0}, {5, 4.0}};
  const auto build = [](auto part, double limit) {
    return std::make_unique<PiecewiseLinearModel>(part, Shape::as_measured, limit);
  };
  const auto out_of_core = [&](double in_core) { return models::OutOfCoreModel(points, in_core, 9.0, build); };
  const AkimaModel one(points);
  CHECK(same_model(one, AkimaModel(points)));
  CHECK_FALSE(same_model(one, AkimaModel(points, 4.0)));
  CHECK_FALSE(same_model(one, PiecewiseLinearModel(points)));
  CHECK_FALSE(same_model(one, AkimaModel(std::span(points).first(3))));
  CHECK_FALSE(same_model(PiecewiseLinearModel(points, Shape::increasing_time),
                         PiecewiseLinearModel(points, Shape::as_measured)));
  CHECK(same_model(out_of_core(2.5), out_of_core(2.5)));
  CHECK_FALSE(same_model(out_of_core(2.5), out_of_core(2.6)));
  CHECK_FALSE(same_model(ConstantModel(1.0), ConstantModel(1.0)));
}

TEST_CASE("a group that holds no whole computation unit gets none and one that is full no more") {
  const ConstantModel tiny(9.0, 0.9), small(9.0, 7.5), roomy(1.0);
  const std::vector<const models::SpeedModel*> models = {&tiny, &tiny, &small, &small, &roomy};
  for (const char* name : {"geometric", "numerical", "constant"}) {
    const Algorithm& algorithm = find_algorithm(name);
    const auto split = hierarchical(100, models, std::vector<int>{0, 0, 1, 1, 2}, algorithm, algorithm);
    CHECK(split.groups == Slices{0, 14, 86});
  }
  // What the inner algorithm refuses takes forever.
  const GroupModel group({&small, &roomy}, find_algorithm("even"), 100);
  CHECK(std::isfinite(group.time_s(14.0)));
  CHECK(std::isinf(group.time_s(16.0)));
}

}  // namespace steelyard::test_hierarchical
