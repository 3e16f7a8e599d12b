#include "partition/bottleneck.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "partition/sum_set.hpp"

namespace steelyard::partition {
namespace {

/// Sizes within a cost as distances from the end, all smallest or all largest sizes, that is nearer to the total: the
/// sums that matter are then small. All distances are divided by their greatest common divisor.
struct Distances {
  std::vector<std::int64_t> values;  ///< of all processing units one after the other, each increasing from 0
  std::vector<std::size_t> begin;    ///< of each unit, and the end
  std::int64_t target = 0;           ///< distance of the total
  std::int64_t divisor = 1;
  bool from_largest = false;
  bool possible = false;  ///< false where bounds or divisor rule the total out

  std::span<const std::int64_t> of(std::size_t unit) const {
    return {values.data() + begin[unit], begin[unit + 1] - begin[unit]};
  }
  std::size_t units() const { return begin.size() - 1; }
};

Distances distances(std::int64_t total, const Choices& choices, std::int64_t most_cost) {
  Distances result;
  result.begin.push_back(0);
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const auto& unit : choices) {
    for (const Choice& choice : unit) {
      if (choice.cost <= most_cost) result.values.push_back(choice.units);
    }
    if (result.values.size() == result.begin.back()) return result;  // nothing that this unit could get
    if (result.values[result.begin.back()] > total - least) return result;
    least += result.values[result.begin.back()];
    most = result.values.back() > std::numeric_limits<std::int64_t>::max() - most
               ? std::numeric_limits<std::int64_t>::max()
               : most + result.values.back();
    result.begin.push_back(result.values.size());
  }
  if (total > most) return result;
  const bool is_exact = most < std::numeric_limits<std::int64_t>::max();
  result.from_largest = is_exact && most - total < total - least;
  result.target = result.from_largest ? most - total : total - least;
  std::int64_t divisor = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto first = result.values.begin() + static_cast<std::ptrdiff_t>(result.begin[i]);
    const auto last = result.values.begin() + static_cast<std::ptrdiff_t>(result.begin[i + 1]);
    if (result.from_largest) std::reverse(first, last);
    const std::int64_t end = *first;
    for (auto value = first; value != last; ++value) {
      *value = result.from_largest ? end - *value : *value - end;
      if (divisor != 1) divisor = std::gcd(divisor, *value);
    }
  }
  result.divisor = std::max<std::int64_t>(divisor, 1);
  result.possible = result.target % result.divisor == 0;
  if (result.divisor > 1) {
    for (std::int64_t& value : result.values) value /= result.divisor;
    result.target /= result.divisor;
  }
  return result;
}

std::int64_t widest_gap(std::span<const std::int64_t> values) {
  std::int64_t widest = 0;
  for (std::size_t i = 1; i < values.size(); ++i) widest = std::max(widest, values[i] - values[i - 1]);
  return widest;
}

/// The order in which sums fill up early: of each greatest common divisor the unit with the largest size, which
/// together decide on residues, then the others.
std::vector<std::size_t> filling_order(const Distances& sets, const std::vector<std::int64_t>& divisors) {
  std::vector<std::size_t> order(sets.units());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(divisors[a], -sets.of(a).back(), a) < std::tuple(divisors[b], -sets.of(b).back(), b);
  });
  std::vector<bool> leads(sets.units(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    leads[order[i]] = i == 0 || divisors[order[i]] != divisors[order[i - 1]];
  }
  std::stable_partition(order.begin(), order.end(), [&](std::size_t unit) { return leads[unit]; });
  return order;
}

bool is_reachable(const Distances& sets) {
  if (!sets.possible) return false;
  std::vector<std::int64_t> divisors(sets.units(), 0);
  for (std::size_t i = 0; i < sets.units(); ++i) {
    for (const std::int64_t value : sets.of(i)) {
      divisors[i] = std::gcd(divisors[i], value);
      if (divisors[i] == 1) break;
    }
  }
  const std::vector<std::size_t> order = filling_order(sets, divisors);
  // Of the units that are still to come: what they can add together, the widest step between two sizes, and the stride
  // that all of them keep.
  std::vector<std::int64_t> rest(order.size() + 1, 0);
  std::vector<std::int64_t> gap(order.size() + 1, 0);
  std::vector<std::int64_t> stride(order.size() + 1, 0);
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto values = sets.of(order[i]);
    rest[i] = rest[i + 1] + std::min(values.back(), sets.target - rest[i + 1]);
    gap[i] = std::max(gap[i + 1], widest_gap(values));
    stride[i] = std::gcd(stride[i + 1], divisors[order[i]]);
  }
  SumSet sums(sets.target);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sums.add(sets.of(order[i]));
    if (sums.contains(sets.target)) return true;
    if (stride[i + 1] == 0) return false;
    // Looking costs as much as adding a unit or less, so it is done at each doubling.
    if (!std::has_single_bit(i + 1)) continue;
    const SumSet::Run run = sums.longest_run(sets.target % stride[i + 1], stride[i + 1]);
    if (run.last < run.first) return false;  // the others do not change the residue
    // A run as long as the widest step grows without holes, by all that is still to come.
    if (run.last - run.first + stride[i + 1] >= gap[i + 1] && run.first <= sets.target &&
        sets.target - run.last <= rest[i + 1]) {
      return true;
    }
  }
  return false;
}

/// The least cost within which the largest sizes sum to at least `total`: a lower bound, without a look at sums.
/// Nothing where there is none. Bisection over all numbers, on each unit's choices without those that are both smaller
/// and dearer than another.
std::optional<std::int64_t> bound_by_largest(std::int64_t total, const Choices& choices) {
  Choices fronts(choices.size());
  std::int64_t high = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (auto choice = choices[i].rbegin(); choice != choices[i].rend(); ++choice) {
      if (fronts[i].empty() || choice->cost < fronts[i].back().cost) fronts[i].push_back(*choice);
    }
    high = std::max(high, fronts[i].front().cost);
  }
  const auto suffices = [&](std::int64_t cost) {
    std::int64_t missing = total;
    for (const auto& front : fronts) {
      const auto largest =
          std::partition_point(front.begin(), front.end(), [&](const Choice& choice) { return choice.cost > cost; });
      if (largest == front.end()) return false;
      missing -= std::min(missing, largest->units);
    }
    return missing == 0;
  };
  if (!suffices(high)) return std::nullopt;
  for (std::int64_t low = 0; low < high;) {
    const std::int64_t middle = low + (high - low) / 2;
    if (suffices(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace

bool is_reachable(std::int64_t total, const Choices& choices, std::int64_t most_cost) {
  return is_reachable(distances(total, choices, most_cost));
}

std::optional<std::int64_t> least_bottleneck(std::int64_t total, const Choices& choices) {
  const auto bound = bound_by_largest(total, choices);
  if (!bound) return std::nullopt;
  if (is_reachable(total, choices, *bound)) return bound;
  std::vector<std::int64_t> costs;
  for (const auto& unit : choices) {
    for (const Choice& choice : unit) {
      if (choice.cost > *bound) costs.push_back(choice.cost);
    }
  }
  // The answer is near the bound more often than not: steps that double, each with as much sorting as it needs, then
  // bisection behind the last one.
  auto low = costs.begin();
  for (std::ptrdiff_t step = 1;; step *= 2) {
    if (low == costs.end()) return std::nullopt;
    // Not near: it may be that there is no answer, which everything together says at once.
    if (step == 4 && !is_reachable(total, choices, std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    const auto probe = low + std::min(step, costs.end() - low) - 1;
    std::nth_element(low, probe, costs.end());
    const auto unsorted = probe + 1;
    if (is_reachable(total, choices, *probe)) {
      std::sort(low, unsorted);
      return *std::partition_point(low, probe, [&](std::int64_t cost) { return !is_reachable(total, choices, cost); });
    }
    const std::int64_t too_low = *probe;
    low = std::partition(unsorted, costs.end(), [&](std::int64_t cost) { return cost == too_low; });
  }
}

std::optional<std::vector<std::int64_t>> find_split(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                                    Prefer prefer) {
  const Distances sets = distances(total, choices, most_cost);
  if (!sets.possible) return std::nullopt;
  const std::size_t count = choices.size();
  const auto stride = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  // kept[j]: sums of units j stride, …, p - 1.
  std::vector<SumSet> kept(count / stride + 1, SumSet(sets.target));
  SumSet sums(sets.target);
  for (std::size_t i = count; i-- > 0;) {
    if ((i + 1) % stride == 0) kept[(i + 1) / stride] = sums;
    sums.add(sets.of(i));
  }
  if (!sums.contains(sets.target)) return std::nullopt;

  std::vector<std::int64_t> split;
  std::int64_t left = sets.target;
  std::vector<SumSet> block;  // sums after units of the current block, the last one first
  std::vector<Choice> allowed;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % stride == 0) {
      const std::size_t end = std::min(count, i + stride);
      block.assign(1, end % stride == 0 ? kept[end / stride] : SumSet(sets.target));
      for (std::size_t j = end; j-- > i + 1;) {
        block.push_back(block.back());
        block.back().add(sets.of(j));
      }
    }
    allowed.clear();
    for (const Choice& choice : choices[i]) {
      if (choice.cost <= most_cost) allowed.push_back(choice);
    }
    const std::int64_t smallest = allowed.front().units;
    const std::int64_t largest = allowed.back().units;
    std::reverse(allowed.begin(), allowed.end());
    if (prefer == Prefer::less_cost) {
      std::stable_sort(allowed.begin(), allowed.end(),
                       [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
    }
    for (const Choice& choice : allowed) {
      const std::int64_t distance =
          (sets.from_largest ? largest - choice.units : choice.units - smallest) / sets.divisor;
      if (!block.back().contains(left - distance)) continue;
      split.push_back(choice.units);
      left -= distance;
      break;
    }
    block.pop_back();
  }
  return split;
}

}  // namespace steelyard::partition
