#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "partition/rectangles/column_order.hpp"
#include "partition/rectangles/internode_traffic.hpp"
#include "partition/rectangles/rectangle_neighbours.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_column_order {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

struct Case {
  ColumnPartition partition;
  std::vector<int> node_of_unit;
};

Case random_case(Random& random, int most_units) {
  const auto areas = tests::random_areas(random, whole(random, 1, most_units));
  Case one{column(areas, tests::random_extents(random, 60)), {}};
  const int nodes = whole(random, 1, 5);
  for (std::size_t i = 0; i < areas.size(); ++i) one.node_of_unit.push_back(whole(random, 0, nodes - 1));
  return one;
}

/// Least traffic over all orders, from rectangles that are put together here.
std::int64_t least_traffic(const Case& one) {
  std::vector<Column> columns = one.partition.columns;
  for (Column& column : columns) std::sort(column.units.begin(), column.units.end());
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < columns.size(); ++c) order.push_back(c);
  std::int64_t least = internode_traffic(one.partition.rectangles, one.node_of_unit);
  std::vector<Rectangle> rectangles = one.partition.rectangles;
  const std::function<void(std::size_t, std::int64_t)> place = [&](std::size_t i, std::int64_t first) {
    if (i == order.size()) {
      least = std::min(least, internode_traffic(rectangles, one.node_of_unit));
      return;
    }
    Column& column = columns[order[i]];
    do {
      std::int64_t row = 0;
      for (const int unit : column.units) {
        Rectangle& rectangle = rectangles[static_cast<std::size_t>(unit)];
        rectangle.row = row;
        rectangle.column = first;
        row += rectangle.rows;
      }
      place(i + 1, first + column.count);
    } while (std::next_permutation(column.units.begin(), column.units.end()));
  };
  do place(0, 0);
  while (std::next_permutation(order.begin(), order.end()));
  return least;
}

}  // namespace

TEST_CASE("ordering by node never adds traffic, exactly or not") {
  Random random(1);
  for (int trial = 0; trial < 150; ++trial) {
    const Case one = random_case(random, 24);
    const std::int64_t before = internode_traffic(one.partition.rectangles, one.node_of_unit);
    for (const double most_steps : {exact_order_steps / 64.0, 0.0}) {
      const ColumnPartition after = order_by_node(one.partition, one.node_of_unit, most_steps);
      REQUIRE(internode_traffic(after.rectangles, one.node_of_unit) <= before);
    }
  }
}

TEST_CASE("ordering by node keeps the tiling, every unit's sides, and who shares a column") {
  Random random(2);
  for (int trial = 0; trial < 150; ++trial) {
    const Case one = random_case(random, 20);
    const ColumnPartition after = order_by_node(one.partition, one.node_of_unit, trial % 2 == 0 ? 1e5 : 0.0);
    REQUIRE(after.extents == one.partition.extents);
    REQUIRE(after.half_perimeters() == one.partition.half_perimeters());
    REQUIRE(after.columns.size() == one.partition.columns.size());
    std::int64_t first = 0;
    for (const Column& column : after.columns) {
      REQUIRE(column.first == first);
      std::int64_t row = 0;
      std::vector<int> units = column.units;
      for (const int unit : units) {
        const Rectangle& before = one.partition.rectangles[static_cast<std::size_t>(unit)];
        REQUIRE(after.rectangles[static_cast<std::size_t>(unit)] == Rectangle{row, first, before.rows, before.columns});
        row += before.rows;
      }
      REQUIRE(row == after.extents.rows);
      std::sort(units.begin(), units.end());
      REQUIRE(std::any_of(one.partition.columns.begin(), one.partition.columns.end(), [&](Column before) {
        std::sort(before.units.begin(), before.units.end());
        return before.units == units;
      }));
      first += column.count;
    }
    REQUIRE(first == after.extents.columns);
    for (std::size_t i = 0; i < after.rectangles.size(); ++i) {
      if (one.partition.rectangles[i].empty()) REQUIRE(after.rectangles[i] == Rectangle{});
    }
  }
}

TEST_CASE("ordering by node agrees with brute force where there are few orders") {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Case one = random_case(random, 8);
    const ColumnPartition after = order_by_node(one.partition, one.node_of_unit);
    REQUIRE(internode_traffic(after.rectangles, one.node_of_unit) == least_traffic(one));
  }
}

TEST_CASE("without anything to gain a partition stays as it is") {
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    Case one = random_case(random, 12);
    const ColumnPartition ordered = order_by_node(one.partition, one.node_of_unit, 1e5);
    REQUIRE(order_by_node(ordered, one.node_of_unit, 1e5) == ordered);
    std::fill(one.node_of_unit.begin(), one.node_of_unit.end(), 3);
    REQUIRE(order_by_node(one.partition, one.node_of_unit, 1e5) == one.partition);
  }
}

TEST_CASE("names of nodes do not matter, and equal calls give equal orders") {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Case one = random_case(random, 16);
    const ColumnPartition after = order_by_node(one.partition, one.node_of_unit, 1e5);
    REQUIRE(order_by_node(one.partition, one.node_of_unit, 1e5) == after);
    std::vector<int> renamed = one.node_of_unit;
    for (int& node : renamed) node = 10 * node + 4;
    REQUIRE(order_by_node(one.partition, renamed, 1e5) == after);
  }
}

TEST_CASE("two nodes that meet in every column end on one side each") {
  // Two columns of two equal units, crosswise on two nodes: only the order decides.
  const ColumnPartition partition = column(std::vector<double>(4, 1.0), {10, 10}, Arrangement{{0, 1}, {2, 3}});
  const std::vector<int> node_of_unit = {0, 1, 1, 0};
  CHECK(internode_traffic(partition.rectangles, node_of_unit) == 20);
  const ColumnPartition after = order_by_node(partition, node_of_unit);
  CHECK(internode_traffic(after.rectangles, node_of_unit) == 10);
}

TEST_CASE("hundreds of units on dozens of nodes are ordered within seconds") {
  std::vector<double> areas;
  std::vector<int> node_of_unit;
  Random random(6);
  for (int unit = 0; unit < 200; ++unit) {
    areas.push_back(unit % 10 == 0 ? 10.0 : tests::uniform(random, 0.8, 1.2));
    node_of_unit.push_back(unit / 10);
  }
  const ColumnPartition partition = column(areas, {512, 512});
  const ColumnPartition after = order_by_node(partition, node_of_unit);
  CHECK(internode_traffic(after.rectangles, node_of_unit) < internode_traffic(partition.rectangles, node_of_unit));
}

TEST_CASE("a number of nodes other than that of units is refused with both") {
  const ColumnPartition partition = column(std::vector<double>(4, 1.0), {10, 10});
  CHECK_THROWS_MATCHES(order_by_node(partition, std::vector<int>{0, 0, 0}), InvalidArgument,
                       MessageMatches(ContainsSubstring("3 nodes for 4 units")));
}

}  // namespace steelyard::test_column_order
