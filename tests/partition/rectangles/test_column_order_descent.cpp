#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "partition/rectangles/column_order_descent.hpp"
#include "partition/rectangles/column_order_exact.hpp"
#include "tests/partition/random_stacks.hpp"

namespace steelyard::test_column_order_descent {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("descent never adds traffic and keeps columns together") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    // Beyond ten units a column is no more ordered exactly.
    const std::vector<Stack> stacks =
        tests::random_stacks(random, whole(random, 1, 5), trial % 10 == 0 ? 16 : 6, whole(random, 1, 5));
    const std::vector<Stack> lessened = lessen_traffic(stacks);
    REQUIRE(internode_traffic(lessened) <= internode_traffic(stacks));
    REQUIRE(tests::what_stays(lessened) == tests::what_stays(stacks));
  }
}

TEST_CASE("nothing is gained after a descent by another order of one column, or another place of one") {
  Random random(4);
  for (int trial = 0; trial < 150; ++trial) {
    const std::vector<Stack> stacks = lessen_traffic(tests::random_stacks(random, whole(random, 2, 5), 5, 3));
    const std::int64_t least = internode_traffic(stacks);
    for (std::size_t a = 0; a < stacks.size(); ++a) {
      std::vector<Stack> alone = {stacks[a]};
      tests::for_each_unit_order(alone, 0, [&] {
        std::vector<Stack> changed = stacks;
        changed[a] = alone[0];
        REQUIRE(internode_traffic(changed) >= least);
      });
      for (std::size_t b = 0; b < stacks.size(); ++b) {
        std::vector<Stack> swapped = stacks;
        std::swap(swapped[a], swapped[b]);
        REQUIRE(internode_traffic(swapped) >= least);
        std::vector<Stack> moved = stacks;
        moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(a));
        moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(b), stacks[a]);
        REQUIRE(internode_traffic(moved) >= least);
      }
    }
  }
}

TEST_CASE("descent mends the first column of an order that is least otherwise") {
  Random random(5);
  for (int trial = 0; trial < 150; ++trial) {
    std::vector<Stack> stacks = least_traffic_order(tests::random_stacks(random, whole(random, 2, 4), 4, 4));
    const std::int64_t least = internode_traffic(stacks);
    std::shuffle(stacks[0].units.begin(), stacks[0].units.end(), random);
    REQUIRE(internode_traffic(lessen_traffic(stacks)) == least);
  }
}

TEST_CASE("descent finds the least traffic of a single column of up to ten units") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const std::vector<Stack> stacks = tests::random_stacks(random, 1, 10, whole(random, 1, 5));
    std::set<int> nodes;
    for (const StackedUnit& unit : stacks[0].units) nodes.insert(unit.node);
    const auto boundaries = static_cast<std::int64_t>(nodes.size()) - 1;
    REQUIRE(internode_traffic(lessen_traffic(stacks)) == boundaries * stacks[0].columns);
  }
}

TEST_CASE("descent comes close to the least traffic on average") {
  Random random(3);
  double least = 0.0;
  double lessened = 0.0;
  double given = 0.0;
  for (int trial = 0; trial < 150; ++trial) {
    const std::vector<Stack> stacks = tests::random_stacks(random, whole(random, 2, 4), 4, whole(random, 2, 4));
    least += static_cast<double>(internode_traffic(least_traffic_order(stacks)));
    lessened += static_cast<double>(internode_traffic(lessen_traffic(stacks)));
    given += static_cast<double>(internode_traffic(stacks));
    REQUIRE(lessened >= least);
  }
  INFO("given " << given << ", lessened " << lessened << ", least " << least);
  CHECK(lessened - least < 0.05 * (given - least));
}

}  // namespace steelyard::test_column_order_descent
