#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/communication_aware.hpp"
#include "partition/geometric.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_communication_aware {

using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

/// A wire to each unit: latency and time per computation unit, for those that have work.
SliceCost wires(std::vector<double> latency_s, std::vector<double> unit_s) {
  return [=](std::span<const std::int64_t> units) {
    std::vector<double> cost_s;
    for (std::size_t i = 0; i < units.size(); ++i) {
      cost_s.push_back(units[i] > 0 ? latency_s[i] + unit_s[i] * static_cast<double>(units[i]) : 0.0);
    }
    return cost_s;
  };
}

double total_s(const std::vector<std::int64_t>& units, Models models, const SliceCost& cost) {
  const std::vector<double> cost_s = cost(units);
  double longest = 0.0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    longest = std::max(longest, models[i]->time_s(static_cast<double>(units[i])) + cost_s[i]);
  }
  return longest;
}

/// The least total over all splits.
double least_total_s(std::int64_t total, Models models, const SliceCost& cost) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> units(models.size(), 0);
  const std::function<void(std::size_t, std::int64_t)> fill = [&](std::size_t unit, std::int64_t left) {
    if (unit + 1 == units.size()) {
      units[unit] = left;
      least = std::min(least, total_s(units, models, cost));
      return;
    }
    for (units[unit] = 0; units[unit] <= left; ++units[unit]) fill(unit + 1, left - units[unit]);
  };
  fill(0, total);
  return least;
}

struct Setting {
  tests::Units units;
  SliceCost cost;
};

Setting random_setting(Random& random, int count, double most_units) {
  Setting setting;
  std::vector<double> latency_s;
  std::vector<double> unit_s;
  for (int i = 0; i < count; ++i) {
    setting.units.add(random_model(random, tests::Kind::constant, most_units));
    latency_s.push_back(uniform(random, 0.0, 1.0) * setting.units.models.back()->time_s(most_units / count));
    unit_s.push_back(0.0);
  }
  setting.cost = wires(latency_s, unit_s);
  return setting;
}

std::int64_t sum(const std::vector<std::int64_t>& units) {
  return std::accumulate(units.begin(), units.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("slices sum to the total and are never slower than without a thought for communication") {
  Random random(1);
  const Algorithm& algorithm = find_algorithm("geometric");
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t total = whole(random, 0, 500);
    const int most_subsets = whole(random, 0, 1) == 0 ? 0 : 256;
    const Setting setting = random_setting(random, whole(random, 1, 6), 500.0);
    const CostedDistribution found =
        communication_aware(total, setting.units.models, algorithm, setting.cost, most_subsets);
    REQUIRE(sum(found.distribution.units) == total);
    REQUIRE_THAT(found.total_s(),
                 WithinRel(total_s(found.distribution.units, setting.units.models, setting.cost), 1e-12));
    const Distribution blind = geometric(total, setting.units.models);
    REQUIRE(found.total_s() <= total_s(blind.units, setting.units.models, setting.cost) * (1.0 + 1e-12));
  }
}

TEST_CASE("with a latency for each unit that works it is within one computation unit of the best of all splits") {
  Random random(2);
  const Algorithm& algorithm = find_algorithm("geometric");
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t total = whole(random, 1, 40);
    const Setting setting = random_setting(random, whole(random, 1, 4), 40.0);
    const CostedDistribution found = communication_aware(total, setting.units.models, algorithm, setting.cost);
    double unit_s = 0.0;
    for (const models::SpeedModel* model : setting.units.models) unit_s = std::max(unit_s, model->time_s(1.0));
    const double least_s = least_total_s(total, setting.units.models, setting.cost);
    INFO("trial " << trial << ": " << found.total_s() << " s, best " << least_s << " s");
    REQUIRE(found.total_s() <= least_s + unit_s);
  }
}

TEST_CASE("a unit that is not worth its wire is left out, and the gain is what it would cost to take it in") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(100.0));
  units.add(std::make_unique<models::ConstantModel>(100.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const double latency_s = GENERATE(5.0, 20.0);
  const int most_subsets = GENERATE(0, 256);
  const SliceCost cost = wires({0.0, 0.0, latency_s}, {0.0, 0.0, 0.0});
  // An algorithm that always gives everybody something.
  const CostedDistribution found = communication_aware(1000, units.models, find_algorithm("even"), cost, most_subsets);
  CHECK(found.distribution.units == std::vector<std::int64_t>{500, 500, 0});
  REQUIRE(found.left_out.size() == 1);
  CHECK(found.left_out[0].unit == 2);
  CHECK_THAT(found.left_out[0].gain_s, WithinRel(333.0 + latency_s - 5.0, 1e-12));
}

TEST_CASE("without costs it is the algorithm itself and nobody is left out") {
  Random random(3);
  const Algorithm& algorithm = find_algorithm("geometric");
  const SliceCost nothing = [](std::span<const std::int64_t> units) { return std::vector<double>(units.size(), 0.0); };
  for (int trial = 0; trial < 100; ++trial) {
    Setting setting = random_setting(random, whole(random, 1, 5), 300.0);
    const std::int64_t total = whole(random, 50, 300);
    const CostedDistribution found = communication_aware(total, setting.units.models, algorithm, nothing);
    REQUIRE(found.total_s() <= geometric(total, setting.units.models).makespan_s() * (1.0 + 1e-12));
  }
}

TEST_CASE("limits are kept and units that the others cannot do without stay") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(100.0, 60.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const SliceCost cost = wires({0.0, 1e6}, {0.0, 0.0});
  const CostedDistribution found = communication_aware(100, units.models, find_algorithm("geometric"), cost);
  CHECK(found.distribution.units[0] <= 60);
  CHECK(sum(found.distribution.units) == 100);
  CHECK(found.left_out.empty());
}

TEST_CASE("rectangles tile the matrix, and the number of columns is the one whose communication is least") {
  tests::Units units;
  for (int i = 0; i < 4; ++i) units.add(std::make_unique<models::ConstantModel>(1000.0));
  const Extents extents{20, 20};
  // What a unit receives goes with its half-perimeter.
  const RectangleCost half = [](const ColumnPartition& partition) {
    std::vector<double> cost_s;
    for (const Rectangle& rectangle : partition.rectangles) {
      cost_s.push_back(1e-3 * static_cast<double>(rectangle.half_perimeter()));
    }
    return cost_s;
  };
  const CostedColumns squares = communication_aware(extents, units.models, find_algorithm("even"), half);
  CHECK(squares.partition.columns.size() == 2);
  CHECK(squares.partition.half_perimeters() == 4 * 20);
  // A wave that only sends up and down is best in one row of columns.
  const RectangleCost rows = [](const ColumnPartition& partition) {
    std::vector<double> cost_s;
    for (const Rectangle& rectangle : partition.rectangles) cost_s.push_back(rectangle.rows < 20 ? 1.0 : 0.0);
    return cost_s;
  };
  const CostedColumns stripes = communication_aware(extents, units.models, find_algorithm("even"), rows);
  CHECK(stripes.partition.columns.size() == 4);
  std::int64_t area = 0;
  for (const Rectangle& rectangle : stripes.partition.rectangles) area += rectangle.area();
  CHECK(area == 400);
}

TEST_CASE("costs that mean nothing are refused with their values") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const Algorithm& algorithm = find_algorithm("even");
  const auto run = [&](std::vector<double> cost_s) {
    return communication_aware(10, units.models, algorithm, [=](std::span<const std::int64_t>) { return cost_s; });
  };
  CHECK_THROWS_AS(run({}), InvalidArgument);
  CHECK_THROWS_AS(run({-1.0}), InvalidArgument);
  CHECK_THROWS_AS(run({std::nan("")}), InvalidArgument);
}

}  // namespace steelyard::test_communication_aware
