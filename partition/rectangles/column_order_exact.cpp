#include "partition/rectangles/column_order_exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace steelyard::partition {
namespace {

/// Units that compare equal stand for one another.
bool looks_less(const StackedUnit& a, const StackedUnit& b) {
  return std::tie(a.node, a.rows) < std::tie(b.node, b.rows);
}

/// k! / (m_1! m_2! …) orders of k units with m_1, m_2, … alike.
double different_orders(const Stack& stack) {
  std::vector<StackedUnit> units = stack.units;
  std::sort(units.begin(), units.end(), looks_less);
  double orders = 1.0;
  double alike = 0.0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    alike = i > 0 && !looks_less(units[i - 1], units[i]) ? alike + 1.0 : 1.0;
    orders *= static_cast<double>(i + 1) / alike;
  }
  return orders;
}

/// One order of one column.
struct Candidate {
  std::size_t column;
  Stack stack;
};

std::vector<Candidate> candidates_of(const std::vector<Stack>& stacks) {
  std::vector<Candidate> candidates;
  for (std::size_t column = 0; column < stacks.size(); ++column) {
    Stack stack = stacks[column];
    std::stable_sort(stack.units.begin(), stack.units.end(), looks_less);
    do {
      candidates.push_back({column, stack});
    } while (std::next_permutation(stack.units.begin(), stack.units.end(), looks_less));
  }
  return candidates;
}

constexpr std::int64_t unknown_traffic = std::numeric_limits<std::int64_t>::max();

/// The best sequence of the columns in a set that ends with a given candidate.
struct Sequence {
  std::int64_t traffic = unknown_traffic;
  std::size_t previous = 0;  // candidate before the last
};

}  // namespace

double exact_steps(std::span<const Stack> stacks) {
  double orders = 0.0;
  for (const Stack& stack : stacks) orders += different_orders(stack);
  return std::ldexp(orders * orders, static_cast<int>(stacks.size()));
}

std::vector<Stack> least_traffic_order(const std::vector<Stack>& stacks) {
  if (stacks.empty()) return {};
  const std::vector<Candidate> candidates = candidates_of(stacks);
  const std::size_t count = candidates.size();
  std::vector<std::int64_t> between(count * count, 0);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (candidates[a].column == candidates[b].column) continue;
      const std::int64_t traffic = traffic_between(candidates[a].stack.units, candidates[b].stack.units);
      between[a * count + b] = between[b * count + a] = traffic;
    }
  }

  const std::size_t sets = std::size_t{1} << stacks.size();
  std::vector<Sequence> states(sets * count);
  std::vector<std::int64_t> within;
  for (std::size_t a = 0; a < count; ++a) {
    within.push_back(traffic_within(candidates[a].stack));
    states[(std::size_t{1} << candidates[a].column) * count + a].traffic = within[a];
  }
  for (std::size_t set = 1; set < sets; ++set) {
    for (std::size_t last = 0; last < count; ++last) {
      const std::int64_t traffic = states[set * count + last].traffic;
      if (traffic == unknown_traffic) continue;
      for (std::size_t next = 0; next < count; ++next) {
        const std::size_t bit = std::size_t{1} << candidates[next].column;
        if ((set & bit) != 0) continue;
        Sequence& state = states[(set | bit) * count + next];
        const std::int64_t sum = traffic + between[last * count + next] + within[next];
        if (sum < state.traffic) state = {sum, last};
      }
    }
  }

  std::size_t set = sets - 1;
  std::size_t last = 0;
  for (std::size_t a = 1; a < count; ++a) {
    if (states[set * count + a].traffic < states[set * count + last].traffic) last = a;
  }
  std::vector<Stack> ordered;
  while (set != 0) {
    ordered.push_back(candidates[last].stack);
    const std::size_t bit = std::size_t{1} << candidates[last].column;
    last = states[set * count + last].previous;
    set &= ~bit;
  }
  return ordered;
}

}  // namespace steelyard::partition
