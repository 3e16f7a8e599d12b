#include "partition/rectangles/communication_aware.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_communication_aware {

using namespace steelyard::partition;
using tests::Random;
using tests::uniform;
using tests::whole;
using Areas = std::vector<std::int64_t>;

namespace {

/// A wire to each unit that has work: latency, and time per block of its half-perimeter.
RectangleCost wires(std::vector<double> latency_s, double block_s = 0.0) {
  return [=](const ColumnPartition& partition) {
    std::vector<double> cost_s;
    for (const Rectangle& rectangle : partition.rectangles) {
      const double latency = rectangle.empty() ? 0.0 : latency_s[cost_s.size()];
      cost_s.push_back(latency + block_s * static_cast<double>(rectangle.half_perimeter()));
    }
    return cost_s;
  };
}

Areas areas(const ColumnPartition& partition) {
  Areas areas;
  for (const Rectangle& rectangle : partition.rectangles) areas.push_back(rectangle.area());
  return areas;
}

double total_s(const ColumnPartition& partition, Models models, const RectangleCost& cost) {
  const std::vector<double> cost_s = cost(partition);
  const Areas blocks = areas(partition);
  double longest_s = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    longest_s = std::max(longest_s, models[i]->time_s(static_cast<double>(blocks[i])) + cost_s[i]);
  }
  return longest_s;
}

/// The least total of the algorithm's areas in any number of columns.
double least_total_s(const Extents& extents, Models models, const Algorithm& algorithm, const RectangleCost& cost) {
  const Distribution blind = algorithm.distribute(extents.rows * extents.columns, models);
  const std::vector<double> areas(blind.units.begin(), blind.units.end());
  const auto working = std::count_if(areas.begin(), areas.end(), [](double area) { return area > 0.0; });
  double least_s = tests::infinity;
  for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(working, extents.columns); ++columns) {
    least_s = std::min(least_s, total_s(column(areas, extents, static_cast<int>(columns)), models, cost));
  }
  return least_s;
}

}  // namespace

TEST_CASE("rectangles tile the matrix, and take no longer than without a thought for communication") {
  Random random(1);
  const Algorithm& algorithm = find_algorithm("geometric");
  for (int trial = 0; trial < 100; ++trial) {
    const Extents extents{whole(random, 1, 20), whole(random, 1, 20)};
    const int most_subsets = trial % 2 == 0 ? 0 : 256;
    tests::Units units;
    std::vector<double> latency_s;
    for (int i = whole(random, 1, 5); i > 0; --i) {
      units.add(tests::random_model(random, tests::Kind::constant, 400.0));
      latency_s.push_back(uniform(random, 0.0, 1.0) * units.models.back()->time_s(100.0));
    }
    const RectangleCost cost = wires(latency_s, trial % 3 == 0 ? 0.0 : 0.1 * latency_s.front());
    const CostedColumns found = communication_aware(extents, units.models, algorithm, cost, most_subsets);
    CAPTURE(trial, extents.rows, extents.columns, units.models.size());
    REQUIRE(tests::sum(areas(found.partition)) == extents.rows * extents.columns);
    REQUIRE(found.total_s() == total_s(found.partition, units.models, cost));
    REQUIRE(found.total_s() <= least_total_s(extents, units.models, algorithm, cost));
    // Without costs it is the algorithm itself.
    const RectangleCost free = wires(std::vector<double>(units.models.size(), 0.0));
    REQUIRE(communication_aware(extents, units.models, algorithm, free).total_s() <=
            least_total_s(extents, units.models, algorithm, free));
  }
}

TEST_CASE("a unit is left out where its communication costs more than it gains, by an exhaustive search and a greedy") {
  tests::Units units;
  for (const double speed : {100.0, 100.0, 50.0}) units.add(std::make_unique<models::ConstantModel>(speed));
  const int most_subsets = GENERATE(0, 256);
  // 30 x 40 blocks take 6 s by two units, 4.8 s by three.
  for (const auto& [latency_s, takes_part] : {std::pair{0.5, true}, {2.0, true}, {20.0, false}}) {
    CAPTURE(latency_s, most_subsets);
    const CostedColumns found = communication_aware({30, 40}, units.models, find_algorithm("geometric"),
                                                    wires({0.0, 0.0, latency_s}), most_subsets);
    CHECK((found.communication_s[2] > 0.0) == takes_part);
    if (!takes_part) CHECK(areas(found.partition) == Areas{600, 600, 0});
    CHECK(found.total_s() <= 6.0);
  }
}

TEST_CASE("limits are kept, and units that the others cannot do without stay") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(100.0, 60.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const CostedColumns found =
      communication_aware({10, 10}, units.models, find_algorithm("geometric"), wires({0.0, 1e6}));
  CHECK(areas(found.partition)[0] <= 60);
  CHECK(areas(found.partition)[1] > 0);
}

}  // namespace steelyard::test_communication_aware
