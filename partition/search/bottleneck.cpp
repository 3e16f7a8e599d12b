#include "partition/search/bottleneck.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "partition/search/sum_set.hpp"

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

/// Choices of each unit without those that are both smaller and dearer than another, by falling size and cost: the
/// largest size within any cost by a binary search.
class Fronts {
 public:
  explicit Fronts(const Choices& choices) : choices_(choices) {
    std::size_t count = 0;
    for (const auto& unit : choices) count += unit.size();
    corners_.reserve(count);
    begin_.reserve(choices.size() + 1);
    begin_.push_back(0);
    for (const auto& unit : choices) {
      std::int64_t cheapest = std::numeric_limits<std::int64_t>::max();
      for (std::size_t k = unit.size(); k-- > 0;) {
        if (k + 1 < unit.size() && unit[k].cost >= cheapest) continue;
        cheapest = unit[k].cost;
        corners_.push_back(k);
      }
      begin_.push_back(corners_.size());
    }
  }

  /// The least cost within which the largest sizes sum to at least `total`: a lower bound of the bottleneck, without a
  /// look at sums. Nothing where there is none. Bisection over numbers, which moves on to costs that occur.
  std::optional<std::int64_t> bound(std::int64_t total) const {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t missing = total;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      low = std::max(low, corner(i, begin_[i + 1] - 1).cost);
      high = std::max(high, corner(i, begin_[i]).cost);
      missing -= std::min(missing, corner(i, begin_[i]).units);
    }
    if (missing > 0) return std::nullopt;
    // The answer is in [low, high], and of each unit between `first`, the one within high, and `last`, the one within
    // low.
    std::vector<std::size_t> first(begin_.begin(), begin_.end() - 1);
    std::vector<std::size_t> last(choices_.size());
    for (std::size_t i = 0; i < last.size(); ++i) last[i] = begin_[i + 1] - 1;
    std::vector<std::size_t> within(choices_.size());
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      missing = total;
      std::int64_t below = low;   // the largest cost that occurs up to the middle
      std::int64_t above = high;  // the smallest behind it
      for (std::size_t i = 0; i < within.size(); ++i) {
        within[i] = first_within(i, first[i], last[i], middle);
        const Choice& largest = corner(i, within[i]);
        missing -= std::min(missing, largest.units);
        below = std::max(below, largest.cost);
        if (within[i] > begin_[i]) above = std::min(above, corner(i, within[i] - 1).cost);
      }
      if (missing == 0) {
        high = below;
        first.swap(within);
      } else {
        low = above;
        last.swap(within);
      }
    }
    return high;
  }

  /// Index of each unit's largest choice within a cost that each of them has one in.
  std::vector<std::size_t> largest_within(std::int64_t cost) const {
    std::vector<std::size_t> largest;
    largest.reserve(choices_.size());
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      largest.push_back(corners_[first_within(i, begin_[i], begin_[i + 1] - 1, cost)]);
    }
    return largest;
  }

 private:
  const Choice& corner(std::size_t unit, std::size_t index) const { return choices_[unit][corners_[index]]; }

  /// The first of the corners first, …, last of a unit that costs no more; the last one does.
  std::size_t first_within(std::size_t unit, std::size_t first, std::size_t last, std::int64_t cost) const {
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (corner(unit, middle).cost > cost) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  const Choices& choices_;
  std::vector<std::size_t> corners_;  ///< indices among their unit's choices
  std::vector<std::size_t> begin_;
};

/// Whether some choices within a cost, one per processing unit, sum to `total`. Sizes need not begin with 0.
/// Necessary conditions come first (smallest and largest sums, greatest common divisor). Then sums are collected from
/// the nearer end, with the units first that decide on residues, until `total` is among them; until no sum has its
/// residue by what all other units have in common; or until a run of sums is long enough to grow without holes up to
/// `total`. Worst case O(sum_i m_i total / 64) word operations; next to nothing where sums fill up, as they do on
/// measured tables.
bool is_reachable(std::int64_t total, const Choices& choices, std::int64_t most_cost) {
  return is_reachable(distances(total, choices, most_cost));
}

}  // namespace

std::optional<std::int64_t> least_bottleneck(std::int64_t total, const Choices& choices) {
  const Fronts fronts(choices);
  const auto bound = fronts.bound(total);
  if (!bound) return std::nullopt;
  // The answer is near the bound more often than not: as long as there is little to try, costs that grow by doubling
  // steps from about what lies between two choices. What is found within a cost is the least one.
  std::int64_t too_low = *bound - 1;
  std::size_t count = 0;
  std::int64_t dearest = *bound;
  for (const auto& unit : choices) {
    count += unit.size();
    dearest = std::max(dearest, unit.back().cost);
  }
  std::int64_t further = (dearest - *bound) / static_cast<std::int64_t>(count) + 1;
  for (std::int64_t cost = *bound;;) {
    const auto near = near_largest(total, choices, cost, fronts.largest_within(cost));
    if (!near) break;
    if (const auto least = least_bottleneck(*near)) return least;
    too_low = cost;
    if (cost >= dearest) break;
    cost += std::min(further, dearest - cost);
    further += std::min(further, dearest - cost);  // doubled, but for what would be beyond the dearest
  }
  if (too_low < *bound && is_reachable(total, choices, *bound)) return bound;
  too_low = std::max(too_low, *bound);
  std::vector<std::int64_t> costs;
  for (const auto& unit : choices) {
    for (const Choice& choice : unit) {
      if (choice.cost > too_low) costs.push_back(choice.cost);
    }
  }
  // Steps that double, each with as much sorting as it needs, then bisection behind the last one.
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
    too_low = *probe;
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

namespace {

constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();

std::span<const Choice> of(const NearLargest& near, std::size_t unit) {
  return {near.choices.data() + near.begin[unit], near.begin[unit + 1] - near.begin[unit]};
}

/// best[(i - 1) (target + 1) + d]: the least value of units i, …, p - 1 with distances that sum to d, where `combine`
/// says what a unit's cost and the value of those behind it make together; `not_reached` where there is none. Unit 0 is
/// left to the caller, who needs its value at the target only.
std::vector<std::int64_t> best_of_later(const NearLargest& near, std::int64_t not_reached, auto combine) {
  const std::size_t count = near.begin.size() - 1;
  const auto row = static_cast<std::size_t>(near.target + 1);
  std::vector<std::int64_t> best(count * row, not_reached);
  if (count == 1) best[0] = 0;  // nothing comes behind unit 0
  for (std::size_t i = count; i-- > 1;) {
    std::int64_t* const here = best.data() + (i - 1) * row;
    const std::int64_t* const after = here + row;
    for (const Choice& choice : of(near, i)) {
      const auto shift = static_cast<std::size_t>(choice.units);
      if (i + 1 == count) {
        here[shift] = choice.cost;
        continue;
      }
      for (std::size_t d = shift; d < row; ++d) here[d] = std::min(here[d], combine(choice.cost, after[d - shift]));
    }
  }
  return best;
}

}  // namespace

std::optional<NearLargest> near_largest(std::int64_t total, const Choices& choices, std::int64_t most_cost,
                                        const std::vector<std::size_t>& largest) {
  NearLargest near;
  near.target = -total;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::int64_t units = choices[i][largest[i]].units;
    if (near.target > little_work - units) return std::nullopt;
    near.target += units;
  }
  if (near.target < 0) return near;
  near.begin.reserve(choices.size() + 1);
  near.begin.push_back(0);
  const auto most_choices = static_cast<std::size_t>(little_work / (near.target + 1));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice* const first = choices[i].data();
    const Choice* choice = first + largest[i];
    const std::int64_t end = choice->units;
    const auto room = std::min(largest[i] + 1, static_cast<std::size_t>(near.target + 1));
    near.choices.resize(kept + room);
    for (;; --choice) {
      const std::int64_t distance = end - choice->units;
      if (distance > near.target) break;
      // No branch on the cost: on tables that vary nobody could foretell it.
      near.choices[kept] = {distance, choice->cost};
      kept += choice->cost <= most_cost ? 1 : 0;
      if (choice == first) break;
    }
    if (kept > most_choices) return std::nullopt;
    near.begin.push_back(kept);
  }
  near.choices.resize(kept);
  return near;
}

std::optional<std::int64_t> least_bottleneck(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  const auto larger = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  const std::vector<std::int64_t> best = best_of_later(near, infinite, larger);
  std::int64_t least = infinite;
  for (const Choice& choice : of(near, 0)) {
    least = std::min(least, larger(choice.cost, best[static_cast<std::size_t>(near.target - choice.units)]));
  }
  if (least == infinite) return std::nullopt;
  return least;
}

std::optional<std::vector<std::int64_t>> least_total(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  static constexpr std::int64_t not_reached = infinite / 2;  // a cost more does not overflow
  const auto sum = [](std::int64_t a, std::int64_t b) { return std::min(not_reached, a + b); };
  const std::vector<std::int64_t> best = best_of_later(near, not_reached, sum);
  const std::size_t count = near.begin.size() - 1;
  std::vector<std::int64_t> split;
  split.reserve(count);
  const std::int64_t* after = best.data();
  std::int64_t left = near.target;
  for (std::size_t i = 0; i < count; ++i, after += near.target + 1) {
    std::int64_t least = not_reached;
    std::int64_t distance = 0;
    for (const Choice& choice : of(near, i)) {
      if (choice.units > left) break;
      std::int64_t cost = choice.units == left ? choice.cost : not_reached;
      if (i + 1 < count) cost = sum(choice.cost, after[left - choice.units]);
      if (cost < least) {  // distances increase, so the first of several stays
        least = cost;
        distance = choice.units;
      }
    }
    if (least == not_reached) return std::nullopt;
    split.push_back(distance);
    left -= distance;
  }
  return split;
}

}  // namespace steelyard::partition
