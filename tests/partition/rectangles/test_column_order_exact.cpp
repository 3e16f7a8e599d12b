#include <catch2/catch_test_macros.hpp>

#include "partition/rectangles/column_order_exact.hpp"
#include "tests/partition/random_stacks.hpp"

namespace steelyard::test_column_order_exact {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

TEST_CASE("no order of columns and units has less traffic than the exact one") {
  Random random(1);
  const auto compare = [&](int columns, int most_units, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const std::vector<Stack> stacks = tests::random_stacks(random, columns, most_units, whole(random, 1, 4));
      const std::vector<Stack> ordered = least_traffic_order(stacks);
      INFO(columns << " columns, trial " << trial);
      REQUIRE(internode_traffic(ordered) == tests::least_traffic(stacks));
      REQUIRE(tests::what_stays(ordered) == tests::what_stays(stacks));
    }
  };
  compare(1, 6, 40);
  compare(2, 4, 60);
  compare(3, 3, 60);
  compare(4, 2, 60);
  compare(4, 3, 6);
  compare(6, 1, 10);
}

TEST_CASE("the steps of an exact search count orders that differ only, and grow without an overflow") {
  const Stack alike{4, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}};
  const Stack different{4, {{3, 2, 0}, {4, 1, 0}, {5, 2, 1}, {6, 2, 1}}};
  CHECK(exact_steps(std::vector<Stack>{alike}) == 2.0);
  CHECK(exact_steps(std::vector<Stack>{alike, different}) == 4.0 * 13.0 * 13.0);
  Stack tall{1, {}};
  for (int unit = 0; unit < 100; ++unit) tall.units.push_back({unit, unit + 1, unit});
  CHECK(exact_steps(std::vector<Stack>(60, tall)) > 1e100);
}

TEST_CASE("no columns are in order") { CHECK(least_traffic_order({}).empty()); }

}  // namespace steelyard::test_column_order_exact
