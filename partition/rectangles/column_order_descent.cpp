#include "partition/rectangles/column_order_descent.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace steelyard::partition {
namespace {

/// Up to here a column is ordered exactly between its neighbours, in 2^k k^2 steps.
constexpr std::size_t most_exact_units = 10;

using Units = std::vector<StackedUnit>;

/// One column and what it touches; neighbours that do not exist are empty.
struct Surroundings {
  std::int64_t columns;
  Units left;
  Units right;

  std::int64_t traffic(const Units& units) const {
    return traffic_within({columns, units}) + traffic_between(left, units) + traffic_between(units, right);
  }
};

/// Rows of [first, first + count) where `neighbour` belongs to another node.
std::int64_t foreign_rows(const Units& neighbour, std::int64_t first, std::int64_t count, int node) {
  std::int64_t rows = 0;
  std::int64_t row = 0;
  for (const StackedUnit& unit : neighbour) {
    const std::int64_t common = std::min(first + count, row + unit.rows) - std::max(first, row);
    if (unit.node != node && common > 0) rows += common;
    row += unit.rows;
  }
  return rows;
}

/// Where a unit's edges lie depends only on the set of units above it, and what it touches above only on the last one.
Units best_between(const Surroundings& around, const Units& units) {
  struct State {
    std::int64_t traffic = std::numeric_limits<std::int64_t>::max();
    std::size_t previous = 0;
  };
  const std::size_t count = units.size();
  const std::size_t sets = std::size_t{1} << count;
  std::vector<State> states(sets * count);
  std::vector<std::int64_t> height(sets, 0);
  for (std::size_t set = 0; set + 1 < sets; ++set) {
    if (set != 0) {
      const auto lowest = static_cast<std::size_t>(std::countr_zero(set));
      height[set] = height[set & (set - 1)] + units[lowest].rows;
    }
    for (std::size_t next = 0; next < count; ++next) {
      if ((set >> next & 1U) != 0) continue;
      const StackedUnit& unit = units[next];
      const std::int64_t sides = foreign_rows(around.left, height[set], unit.rows, unit.node) +
                                 foreign_rows(around.right, height[set], unit.rows, unit.node);
      State& state = states[(set | std::size_t{1} << next) * count + next];
      if (set == 0) state = {sides, next};
      for (std::size_t last = 0; last < count; ++last) {
        if ((set >> last & 1U) == 0) continue;
        const std::int64_t top = units[last].node != unit.node ? around.columns : 0;
        const std::int64_t sum = states[set * count + last].traffic + top + sides;
        if (sum < state.traffic) state = {sum, last};
      }
    }
  }
  std::size_t set = sets - 1;
  std::size_t last = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (states[set * count + i].traffic < states[set * count + last].traffic) last = i;
  }
  Units ordered(count);
  for (std::size_t place = count; place-- > 0;) {
    ordered[place] = units[last];
    const std::size_t previous = states[set * count + last].previous;
    set &= ~(std::size_t{1} << last);
    last = previous;
  }
  return ordered;
}

/// Puts the element `from` to the place `to`; those between move up.
template <typename Sequence>
void move_element(Sequence& sequence, std::size_t from, std::size_t to) {
  const auto at = [&](std::size_t i) { return sequence.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from < to) {
    std::rotate(at(from), at(from + 1), at(to + 1));
  } else {
    std::rotate(at(to), at(from), at(from + 1));
  }
}

/// Moves and swaps two elements as long as that lowers `traffic`. Returns whether anything was gained.
template <typename Sequence, typename Traffic>
bool move_and_swap(Sequence& sequence, const Traffic& traffic) {
  std::int64_t least = traffic(sequence);
  const std::int64_t before = least;
  const auto keep_if_less = [&](const auto& change, const auto& undo) {
    change();
    const std::int64_t now = traffic(sequence);
    if (now < least) {
      least = now;
    } else {
      undo();
    }
  };
  for (std::int64_t start = least + 1; least < start;) {
    start = least;
    for (std::size_t a = 0; a < sequence.size(); ++a) {
      for (std::size_t b = 0; b < sequence.size(); ++b) {
        if (a == b) continue;
        keep_if_less([&] { move_element(sequence, a, b); }, [&] { move_element(sequence, b, a); });
        const auto swap = [&] { std::swap(sequence[a], sequence[b]); };
        if (a < b) keep_if_less(swap, swap);
      }
    }
  }
  return least < before;
}

bool improve_column(std::vector<Stack>& stacks, std::size_t column) {
  const Surroundings around{stacks[column].columns, column > 0 ? stacks[column - 1].units : Units{},
                            column + 1 < stacks.size() ? stacks[column + 1].units : Units{}};
  Units& units = stacks[column].units;
  if (units.size() > most_exact_units) {
    return move_and_swap(units, [&](const Units& changed) { return around.traffic(changed); });
  }
  Units ordered = best_between(around, units);
  if (around.traffic(ordered) >= around.traffic(units)) return false;
  units = std::move(ordered);
  return true;
}

std::vector<Stack> descend(std::vector<Stack> stacks) {
  for (bool gained = true; gained;) {
    gained = false;
    for (std::size_t column = 0; column < stacks.size(); ++column) gained |= improve_column(stacks, column);
    gained |= move_and_swap(stacks, [](const std::vector<Stack>& changed) { return internode_traffic(changed); });
  }
  return stacks;
}

}  // namespace

std::vector<Stack> lessen_traffic(const std::vector<Stack>& stacks) {
  std::vector<Stack> grouped = stacks;
  for (Stack& stack : grouped) {
    std::stable_sort(stack.units.begin(), stack.units.end(),
                     [](const StackedUnit& a, const StackedUnit& b) { return a.node < b.node; });
  }
  std::vector<Stack> from_given = descend(stacks);
  std::vector<Stack> from_grouped = descend(std::move(grouped));
  return internode_traffic(from_grouped) < internode_traffic(from_given) ? from_grouped : from_given;
}

}  // namespace steelyard::partition
