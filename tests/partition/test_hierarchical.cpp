#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <numeric>

#include "core/base/errors.hpp"
#include "models/kinds/akima_model.hpp"
#include "partition/hierarchical.hpp"
#include "partition/popta.hpp"
#include "partition/proportional.hpp"
#include "tests/models/random_models.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_hierarchical {

using namespace steelyard::partition;
using models::AkimaModel;
using models::ConstantModel;
using tests::Kind;
using tests::Random;
using tests::whole;

namespace {

/// Numbers without gaps, in any order of the units.
std::vector<int> random_groups(Random& random, int units, int groups) {
  std::vector<int> group_of_unit;
  for (int i = 0; i < units; ++i) group_of_unit.push_back(i < groups ? i : whole(random, 0, groups - 1));
  std::shuffle(group_of_unit.begin(), group_of_unit.end(), random);
  return group_of_unit;
}

tests::Units random_units(Random& random, int count, Kind kind, double most_units) {
  tests::Units units;
  for (int i = 0; i < count; ++i) units.add(random_model(random, kind, most_units));
  return units;
}

void check_sums(const HierarchicalDistribution& split, std::int64_t total, std::span<const int> group_of_unit) {
  REQUIRE(std::accumulate(split.groups.units.begin(), split.groups.units.end(), std::int64_t{0}) == total);
  std::vector<std::int64_t> sums(split.groups.units.size(), 0);
  std::vector<double> slowest_s(sums.size(), 0.0);
  for (std::size_t i = 0; i < group_of_unit.size(); ++i) {
    const auto group = static_cast<std::size_t>(group_of_unit[i]);
    sums[group] += split.units.units[i];
    slowest_s[group] = std::max(slowest_s[group], split.units.predicted_s[i]);
  }
  REQUIRE(sums == split.groups.units);
  REQUIRE(slowest_s == split.groups.predicted_s);
  REQUIRE(split.units.makespan_s() == split.groups.makespan_s());
}

/// Exact on any models, for small cases: one unit after the other.
Distribution by_all_sizes(std::int64_t total, Models models) {
  require_feasible(total, models);
  const auto size = static_cast<std::size_t>(total) + 1;
  std::vector<std::vector<double>> least_s(1, std::vector<double>(size, std::numeric_limits<double>::infinity()));
  least_s[0][0] = 0.0;
  std::vector<std::vector<std::int64_t>> last;
  for (const models::SpeedModel* model : models) {
    auto& next = least_s.emplace_back(size, std::numeric_limits<double>::infinity());
    auto& chosen = last.emplace_back(size, 0);
    for (std::size_t sum = 0; sum < size; ++sum) {
      for (std::size_t own = 0; own <= sum; ++own) {
        const double makespan_s =
            std::max(least_s[least_s.size() - 2][sum - own], model->time_s(static_cast<double>(own)));
        if (makespan_s < next[sum]) {
          next[sum] = makespan_s;
          chosen[sum] = static_cast<std::int64_t>(own);
        }
      }
    }
  }
  std::vector<std::int64_t> units(models.size());
  for (std::size_t i = models.size(); i > 0; --i) {
    units[i - 1] = last[i - 1][static_cast<std::size_t>(total)];
    total -= units[i - 1];
  }
  return predict(units, models);
}

}  // namespace

TEST_CASE("hierarchical sums are exact on both levels for every pair of algorithms") {
  Random random(1);
  for (const Algorithm& outer : algorithms()) {
    for (const Algorithm& inner : algorithms()) {
      INFO(outer.name << " over " << inner.name);
      for (int trial = 0; trial < 10; ++trial) {
        const int count = whole(random, 1, 12);
        const tests::Units units = random_units(random, count, static_cast<Kind>(whole(random, 0, 2)), 100.0);
        const auto group_of_unit = random_groups(random, count, whole(random, 1, count));
        const int total = whole(random, 0, 600);
        check_sums(hierarchical(total, units.models, group_of_unit, outer, inner), total, group_of_unit);
      }
    }
  }
}

TEST_CASE("two levels of an algorithm of least makespan are as fast as one where time grows with size") {
  const Algorithm& outer = find_algorithm(GENERATE("geometric", "numerical"));
  const Algorithm& inner = find_algorithm(GENERATE("geometric", "numerical"));
  INFO(outer.name << " over " << inner.name);
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const int count = whole(random, 1, 9);
    const tests::Units units = random_units(random, count, Kind::increasing_time, 100.0);
    const auto group_of_unit = random_groups(random, count, whole(random, 1, count));
    const int total = whole(random, 0, 500);
    const HierarchicalDistribution split = hierarchical(total, units.models, group_of_unit, outer, inner);
    check_sums(split, total, group_of_unit);
    REQUIRE(split.units.makespan_s() == inner.distribute(total, units.models).makespan_s());
    REQUIRE(split.units.makespan_s() <= even(total, units.models).makespan_s());
  }
}

TEST_CASE("two levels of an exact algorithm find the least makespan of all splits of models of any shape") {
  const Algorithm exact{"by_all_sizes", "every size of every unit", by_all_sizes};
  Random random(3);
  for (int trial = 0; trial < 150; ++trial) {
    const int count = whole(random, 1, 4), total = whole(random, 1, 24);
    tests::Units units;
    for (int i = 0; i < count; ++i) {
      const double limit = i == 0 ? total + 0.5 : tests::random_limit(random, 0.5, total + 1.0);
      units.add(random_model(random, Kind::as_measured, 1.5 * total, limit));
    }
    const auto group_of_unit = random_groups(random, count, whole(random, 1, count));
    const HierarchicalDistribution split = hierarchical(total, units.models, group_of_unit, exact, exact);
    check_sums(split, total, group_of_unit);
    REQUIRE(split.units.makespan_s() == tests::least_makespan_s(total, units.models));
  }
}

TEST_CASE("one group is the inner algorithm and groups of one are the outer algorithm") {
  Random random(4);
  for (const Algorithm& algorithm : algorithms()) {
    INFO(algorithm.name);
    for (int trial = 0; trial < 20; ++trial) {
      const int count = whole(random, 1, 8), total = whole(random, 0, 400);
      const tests::Units units = random_units(random, count, static_cast<Kind>(whole(random, 0, 2)), 100.0);
      std::vector<int> each(static_cast<std::size_t>(count));
      std::iota(each.begin(), each.end(), 0);
      const std::vector<int> all(static_cast<std::size_t>(count), 0);
      const auto flat = algorithm.distribute(total, units.models).units;
      const Algorithm& other = find_algorithm("geometric");
      REQUIRE(hierarchical(total, units.models, all, other, algorithm).units.units == flat);
      REQUIRE(hierarchical(total, units.models, each, algorithm, other).units.units == flat);
    }
  }
}

TEST_CASE("a cluster of identical hybrid nodes is split by popta over nodes as fast as by all its units") {
  const Algorithm identical{"popta", "identical nodes", static_cast<Distribution (*)(std::int64_t, Models)>(popta)};
  const Algorithm exact{"by_all_sizes", "every size of every unit", by_all_sizes};
  Random random(5);
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
    const HierarchicalDistribution split = hierarchical(total, units.models, group_of_unit, identical, exact);
    check_sums(split, total, group_of_unit);
    REQUIRE(split.units.makespan_s() == by_all_sizes(total, units.models).makespan_s());
  }
}

TEST_CASE("identical groups are computed once") {
  static int calls = 0;
  const Algorithm counted{"counted", "geometric, counted", [](std::int64_t total, Models models) {
                            ++calls;
                            return find_algorithm("geometric").distribute(total, models);
                          }};
  const ConstantModel fast(3.0), slow(1.0);
  const auto calls_for = [&](int nodes) {
    std::vector<const models::SpeedModel*> models;
    std::vector<int> group_of_unit;
    for (int node = 0; node < nodes; ++node) {
      models.insert(models.end(), {&fast, &slow});
      group_of_unit.insert(group_of_unit.end(), 2, node);
    }
    calls = 0;
    const auto split = hierarchical(400 * nodes, models, group_of_unit, find_algorithm("geometric"), counted);
    CHECK(split.groups.units == std::vector<std::int64_t>(static_cast<std::size_t>(nodes), 400));
    CHECK(split.units.units[0] == 300);
    return calls;
  };
  const int few = calls_for(2);
  CHECK(calls_for(200) <= 3 * few);
}

TEST_CASE("a group that holds no whole computation unit gets none and one that is full no more") {
  const ConstantModel tiny(9.0, 0.9), small(9.0, 7.5), roomy(1.0);
  const std::vector<const models::SpeedModel*> models = {&tiny, &tiny, &small, &small, &roomy};
  const std::vector<int> group_of_unit = {0, 0, 1, 1, 2};
  for (const char* name : {"geometric", "numerical", "constant"}) {
    const Algorithm& algorithm = find_algorithm(name);
    const auto split = hierarchical(100, models, group_of_unit, algorithm, algorithm);
    CHECK(split.groups.units == std::vector<std::int64_t>{0, 14, 86});
  }
}

TEST_CASE("groups without units, numbers for other units and totals that do not fit are refused") {
  const ConstantModel model(1.0, 5.0);
  const std::vector<const models::SpeedModel*> models = {&model, &model, &model};
  const Algorithm& algorithm = find_algorithm("geometric");
  const auto attempt = [&](std::int64_t total, std::vector<int> group_of_unit) {
    hierarchical(total, models, group_of_unit, algorithm, algorithm);
  };
  CHECK_NOTHROW(attempt(15, {0, 1, 0}));
  CHECK_THROWS_AS(attempt(16, {0, 1, 0}), InvalidArgument);
  CHECK_THROWS_AS(attempt(-1, {0, 1, 0}), InvalidArgument);
  CHECK_THROWS_AS(attempt(3, {0, 2, 0}), InvalidArgument);
  CHECK_THROWS_AS(attempt(3, {0, -1, 0}), InvalidArgument);
  CHECK_THROWS_AS(attempt(3, {0, 1000000000, 0}), InvalidArgument);
  CHECK_THROWS_AS(attempt(3, {0, 1}), InvalidArgument);
}

}  // namespace steelyard::test_hierarchical
