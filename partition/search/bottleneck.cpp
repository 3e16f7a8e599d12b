#include "partition/search/bottleneck.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "partition/search/sum_set.hpp"

namespace steelyard::partition {
namespace {

constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();

/// Up to this much work a dynamic programme is faster than anything that looks at the sums as a whole.
constexpr std::int64_t little_work = 1 << 15;

/// Sizes within a cost as distances from the end, all smallest or all largest sizes, that is nearer to the total: the
/// sums that matter are then small. All distances are divided by their greatest common divisor.
struct Distances {
  std::vector<std::int64_t> values;   ///< of all processing units one after the other, each increasing from 0
  std::vector<std::size_t> begin{0};  ///< of each unit, and the end
  std::int64_t target = 0;            ///< distance of the total
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
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const auto& unit : choices) {
    for (const Choice& choice : unit) {
      if (choice.cost <= most_cost) result.values.push_back(choice.units);
    }
    if (result.values.size() == result.begin.back()) return result;  // nothing that this unit could get
    least += result.values[result.begin.back()];
    most += result.values.back();
    result.begin.push_back(result.values.size());
  }
  if (total < least || total > most) return result;
  result.from_largest = most - total < total - least;
  result.target = result.from_largest ? most - total : total - least;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto first = result.values.begin() + static_cast<std::ptrdiff_t>(result.begin[i]);
    const auto last = result.values.begin() + static_cast<std::ptrdiff_t>(result.begin[i + 1]);
    if (result.from_largest) std::reverse(first, last);
    const std::int64_t end = *first;
    std::for_each(first, last, [&](std::int64_t& value) { value = std::abs(value - end); });
  }
  result.divisor = std::max<std::int64_t>(common_divisor(result.values), 1);
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
  std::ranges::sort(order, {},
                    [&](std::size_t unit) { return std::tuple(divisors[unit], -sets.of(unit).back(), unit); });
  std::vector<bool> leads(sets.units(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    leads[order[i]] = i == 0 || divisors[order[i]] != divisors[order[i - 1]];
  }
  std::stable_partition(order.begin(), order.end(), [&](std::size_t unit) { return leads[unit]; });
  return order;
}

/// Whether some choices within a cost, one per processing unit, sum to `total`. Sizes need not begin with 0.
/// Necessary conditions come first (smallest and largest sums, greatest common divisor). Then sums are collected from
/// the nearer end, with the units first that decide on residues, until `total` is among them; until no sum has its
/// residue by what all other units have in common; or until a run of sums is long enough to grow without holes up to
/// `total`. Worst case O(sum_i m_i total / 64) word operations; next to nothing where sums fill up, as they do on
/// measured tables.
bool is_reachable(std::int64_t total, const Choices& choices, std::int64_t most_cost) {
  const Distances sets = distances(total, choices, most_cost);
  if (!sets.possible) return false;
  std::vector<std::int64_t> divisors;
  for (std::size_t i = 0; i < sets.units(); ++i) divisors.push_back(common_divisor(sets.of(i)));
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
    for (const auto& unit : choices) {
      std::int64_t cheapest = infinite;
      for (std::size_t k = unit.size(); k-- > 0;) {
        if (unit[k].cost >= cheapest) continue;
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
      low = std::max(low, choices_[i][of(i).back()].cost);
      high = std::max(high, choices_[i][of(i).front()].cost);
      missing -= std::min(missing, choices_[i][of(i).front()].units);
    }
    if (missing > 0) return std::nullopt;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      missing = total;
      std::int64_t below = low;   // the largest cost that occurs up to the middle
      std::int64_t above = high;  // the smallest behind it
      for (std::size_t i = 0; i < choices_.size(); ++i) {
        const std::size_t place = place_within(i, middle);
        const Choice& largest = choices_[i][of(i)[place]];
        missing -= std::min(missing, largest.units);
        below = std::max(below, largest.cost);
        if (place > 0) above = std::min(above, choices_[i][of(i)[place - 1]].cost);
      }
      (missing == 0 ? high : low) = missing == 0 ? below : above;
    }
    return high;
  }

  /// Index of each unit's largest choice within a cost that each of them has one in.
  std::vector<std::size_t> largest_within(std::int64_t cost) const {
    std::vector<std::size_t> largest;
    largest.reserve(choices_.size());
    for (std::size_t i = 0; i < choices_.size(); ++i) largest.push_back(of(i)[place_within(i, cost)]);
    return largest;
  }

 private:
  std::span<const std::size_t> of(std::size_t unit) const {
    return std::span(corners_).subspan(begin_[unit], begin_[unit + 1] - begin_[unit]);
  }

  /// Place among a unit's corners of the first one that costs no more.
  std::size_t place_within(std::size_t unit, std::int64_t cost) const {
    const auto corners = of(unit);
    const auto cost_of = [&](std::size_t index) { return choices_[unit][index].cost; };
    const auto place = std::ranges::lower_bound(corners, cost, std::greater<>(), cost_of);
    return static_cast<std::size_t>(place - corners.begin());
  }

  const Choices& choices_;
  std::vector<std::size_t> corners_;   ///< indices among their unit's choices
  std::vector<std::size_t> begin_{0};  ///< of each unit, and the end
};

std::span<const Choice> of(const NearLargest& near, std::size_t unit) {
  return {near.choices.data() + near.begin[unit], near.begin[unit + 1] - near.begin[unit]};
}

/// best[i (target + 1) + d]: the least value of units i, …, p - 1 with distances that sum to d, where `combine` says
/// what a unit's cost and the value of those behind it make together; `not_reached` where there is none, and behind the
/// last unit for all d but 0. Of unit 0 the value at the target only.
std::vector<std::int64_t> best_values(const NearLargest& near, std::int64_t not_reached, auto combine) {
  const std::size_t count = near.begin.size() - 1;
  const auto row = static_cast<std::size_t>(near.target + 1);
  std::vector<std::int64_t> best((count + 1) * row, not_reached);
  best[count * row] = 0;
  for (std::size_t i = count; i-- > 0;) {
    std::int64_t* const here = best.data() + i * row;
    const std::int64_t* const after = here + row;
    for (const Choice& choice : of(near, i)) {
      const auto shift = static_cast<std::size_t>(choice.units);
      const std::size_t end = i + 1 == count ? shift + 1 : row;
      for (std::size_t d = i == 0 ? row - 1 : shift; d < end; ++d) {
        here[d] = std::min(here[d], combine(choice.cost, after[d - shift]));
      }
    }
  }
  return best;
}

/// The least cost c for which choices within c have distances that sum to the target; nothing where there is none.
std::optional<std::int64_t> least_bottleneck(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  const auto larger = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
  const std::int64_t least = best_values(near, infinite, larger)[static_cast<std::size_t>(near.target)];
  return least < infinite ? std::optional(least) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> least_bottleneck(std::int64_t total, const Choices& choices) {
  const Fronts fronts(choices);
  const auto bound = fronts.bound(total);
  if (!bound) return std::nullopt;
  // The answer is near the bound more often than not: costs grow by doubling steps from about what lies between two
  // choices.
  std::size_t count = 0;
  std::int64_t dearest = *bound;  // of the largest sizes
  for (const auto& unit : choices) {
    count += unit.size();
    dearest = std::max(dearest, unit.back().cost);
  }
  std::int64_t further = (dearest - *bound) / static_cast<std::int64_t>(count) + 1;
  std::int64_t too_low = *bound - 1;
  std::int64_t cost = *bound;
  for (int failures = 0;;) {
    if (const auto near = near_largest(total, choices, cost, fronts.largest_within(cost))) {
      if (const auto least = least_bottleneck(*near)) return least;
    } else {
      if (is_reachable(total, choices, cost)) break;
      // Not near: it may be that there is no answer, which everything together says at once.
      if (++failures == 3 && !is_reachable(total, choices, infinite)) return std::nullopt;
    }
    if (cost == infinite) return std::nullopt;
    too_low = cost;
    const std::int64_t step = std::min(further, dearest - cost);
    further += std::min(step, dearest - cost - step);  // doubled, but for what would be beyond the dearest
    cost = step > 0 ? cost + step : infinite;
  }
  if (too_low < *bound) return bound;
  std::vector<std::int64_t> costs;
  for (const auto& unit : choices) {
    for (const Choice& choice : unit) {
      if (choice.cost > too_low && choice.cost <= cost) costs.push_back(choice.cost);
    }
  }
  std::sort(costs.begin(), costs.end());
  return *std::partition_point(costs.begin(), costs.end() - 1,
                               [&](std::int64_t within) { return !is_reachable(total, choices, within); });
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
  for (std::size_t i = 0; i < count; ++i) {
    if (i % stride == 0) {
      const std::size_t end = std::min(count, i + stride);
      block.assign(1, end % stride == 0 ? kept[end / stride] : SumSet(sets.target));
      for (std::size_t j = end; j-- > i + 1;) {
        block.push_back(block.back());
        block.back().add(sets.of(j));
      }
    }
    std::vector<Choice> allowed;
    std::copy_if(choices[i].rbegin(), choices[i].rend(), std::back_inserter(allowed),
                 [&](const Choice& choice) { return choice.cost <= most_cost; });
    const std::int64_t origin = (sets.from_largest ? allowed.front() : allowed.back()).units;
    if (prefer == Prefer::less_cost) std::ranges::stable_sort(allowed, {}, &Choice::cost);
    const auto distance = [&](const Choice& choice) { return std::abs(choice.units - origin) / sets.divisor; };
    const auto chosen = std::ranges::find_if(
        allowed, [&](const Choice& choice) { return block.back().contains(left - distance(choice)); });
    split.push_back(chosen->units);
    left -= distance(*chosen);
    block.pop_back();
  }
  return split;
}

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

std::optional<std::vector<std::int64_t>> least_total(const NearLargest& near) {
  if (near.target < 0) return std::nullopt;
  static constexpr std::int64_t not_reached = infinite / 2;  // a cost more does not overflow
  const auto sum = [](std::int64_t a, std::int64_t b) { return std::min(not_reached, a + b); };
  const std::vector<std::int64_t> best = best_values(near, not_reached, sum);
  const std::int64_t* here = best.data();
  if (here[near.target] == not_reached) return std::nullopt;
  std::vector<std::int64_t> split;
  std::int64_t left = near.target;
  for (std::size_t i = 0; i + 1 < near.begin.size(); ++i) {
    const std::int64_t* const after = here + near.target + 1;
    // Distances increase, so the first of several that are as good is the least.
    const auto chosen = std::ranges::find_if(of(near, i), [&](const Choice& choice) {
      return choice.units <= left && sum(choice.cost, after[left - choice.units]) == here[left];
    });
    split.push_back(chosen->units);
    left -= chosen->units;
    here = after;
  }
  return split;
}

}  // namespace steelyard::partition
