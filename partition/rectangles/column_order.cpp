#include "partition/rectangles/column_order.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "partition/rectangles/column_order_descent.hpp"
#include "partition/rectangles/column_order_exact.hpp"
#include "partition/rectangles/internode_traffic.hpp"

namespace steelyard::partition {
namespace {

std::vector<Stack> stacks_of(const ColumnPartition& partition, std::span<const int> node_of_unit) {
  std::vector<Stack> stacks;
  for (const Column& column : partition.columns) {
    Stack stack{column.count, {}};
    for (const int unit : column.units) {
      const auto i = static_cast<std::size_t>(unit);
      stack.units.push_back({unit, partition.rectangles[i].rows, node_of_unit[i]});
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

ColumnPartition put_together(const Extents& extents, std::size_t units, std::span<const Stack> stacks) {
  ColumnPartition partition{extents, std::vector<Rectangle>(units), {}};
  std::int64_t first = 0;
  for (const Stack& stack : stacks) {
    Column column{first, stack.columns, {}};
    std::int64_t row = 0;
    for (const StackedUnit& stacked : stack.units) {
      column.units.push_back(stacked.unit);
      partition.rectangles[static_cast<std::size_t>(stacked.unit)] = {row, first, stacked.rows, stack.columns};
      row += stacked.rows;
    }
    first += stack.columns;
    partition.columns.push_back(std::move(column));
  }
  return partition;
}

}  // namespace

ColumnPartition order_by_node(const ColumnPartition& partition, std::span<const int> node_of_unit, double most_steps) {
  if (partition.rectangles.size() != node_of_unit.size()) {
    throw InvalidArgument(
        fmt::format("{} nodes for {} units (expected as many)", node_of_unit.size(), partition.rectangles.size()));
  }
  const std::vector<Stack> before = stacks_of(partition, node_of_unit);
  const std::vector<Stack> after =
      exact_steps(before) <= most_steps ? least_traffic_order(before) : lessen_traffic(before);
  if (internode_traffic(after) >= internode_traffic(before)) return partition;
  return put_together(partition.extents, partition.rectangles.size(), after);
}

}  // namespace steelyard::partition
