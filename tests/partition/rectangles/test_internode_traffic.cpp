#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "partition/rectangles/internode_traffic.hpp"
#include "tests/partition/random_areas.hpp"
#include "tests/partition/random_stacks.hpp"

namespace steelyard::test_internode_traffic {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

std::vector<int> random_nodes(Random& random, std::size_t units, int nodes) {
  std::vector<int> node_of_unit;
  for (std::size_t i = 0; i < units; ++i) node_of_unit.push_back(whole(random, 0, nodes - 1));
  return node_of_unit;
}

/// Pairs of adjacent blocks that belong to units of different nodes, block by block.
std::int64_t counted_blocks(const ColumnPartition& partition, const std::vector<int>& node_of_unit) {
  const auto node = [&](std::int64_t row, std::int64_t column) {
    for (std::size_t i = 0; i < partition.rectangles.size(); ++i) {
      const Rectangle& one = partition.rectangles[i];
      if (row >= one.row && row < one.end_row() && column >= one.column && column < one.end_column()) {
        return node_of_unit[i];
      }
    }
    return -1;
  };
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < partition.extents.rows; ++row) {
    for (std::int64_t column = 0; column < partition.extents.columns; ++column) {
      if (row > 0 && node(row, column) != node(row - 1, column)) ++count;
      if (column > 0 && node(row, column) != node(row, column - 1)) ++count;
    }
  }
  return count;
}

std::vector<Rectangle> rectangles_of(const std::vector<Stack>& stacks, std::vector<int>& node_of_unit) {
  std::vector<Rectangle> rectangles;
  std::int64_t column = 0;
  for (const Stack& stack : stacks) {
    std::int64_t row = 0;
    for (const StackedUnit& unit : stack.units) {
      rectangles.push_back({row, column, unit.rows, stack.columns});
      node_of_unit.push_back(unit.node);
      row += unit.rows;
    }
    column += stack.columns;
  }
  return rectangles;
}

}  // namespace

TEST_CASE("traffic counts the pairs of adjacent blocks on different nodes") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const auto areas = tests::random_areas(random, whole(random, 1, 12));
    const ColumnPartition partition = column(areas, tests::random_extents(random, 20));
    const std::vector<int> node_of_unit = random_nodes(random, areas.size(), whole(random, 1, 5));
    REQUIRE(internode_traffic(partition.rectangles, node_of_unit) == counted_blocks(partition, node_of_unit));
  }
}

TEST_CASE("traffic of columns is the traffic of their rectangles") {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<Stack> stacks = tests::random_stacks(random, whole(random, 1, 6), 7, whole(random, 1, 4));
    std::vector<int> node_of_unit;
    const std::vector<Rectangle> rectangles = rectangles_of(stacks, node_of_unit);
    REQUIRE(internode_traffic(stacks) == internode_traffic(rectangles, node_of_unit));
  }
}

TEST_CASE("there is no traffic on one node, and the whole inner edge where every unit has a node of its own") {
  const std::vector<Rectangle> rectangles = {{0, 0, 3, 5}, {3, 0, 1, 5}, {0, 5, 4, 2}};
  CHECK(internode_traffic(rectangles, std::vector<int>{7, 7, 7}) == 0);
  CHECK(internode_traffic(rectangles, std::vector<int>{0, 1, 2}) == 5 + 4);
  CHECK(internode_traffic(rectangles, std::vector<int>{0, 1, 0}) == 5 + 1);
}

TEST_CASE("a number of nodes other than that of rectangles is refused with both") {
  const std::vector<Rectangle> rectangles = {{0, 0, 3, 5}, {3, 0, 1, 5}};
  CHECK_THROWS_MATCHES(internode_traffic(rectangles, std::vector<int>{0, 0, 0}), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 nodes for 2 rectangles")));
}

}  // namespace steelyard::test_internode_traffic
