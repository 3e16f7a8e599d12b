#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/search/bottleneck.hpp"
#include "partition/time_table.hpp"

namespace steelyard::partition {
namespace {

constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t most_states = std::size_t{1} << 24;

/// The least cost of a sum; by increasing sum.
struct State {
  std::int64_t sum = 0;
  std::int64_t cost = 0;
};

/// The choices of a unit within the budget, cheapest first, as steps from its smallest cheapest one.
struct Member {
  std::size_t unit = 0;
  std::vector<Choice> steps;
  std::int64_t down = 0;  ///< the furthest step down, <= 0
  std::int64_t up = 0;
};

const State* find(const std::vector<State>& states, std::int64_t sum) {
  const auto found = std::ranges::lower_bound(states, sum, {}, &State::sum);
  return found == states.end() || found->sum != sum ? nullptr : &*found;
}

/// The choices that sum to `total` and whose costs sum to the least, if that is at most `budget`; of several the
/// lexicographically greatest. Every processing unit has a choice of cost 0; units that have just one choice within
/// the budget take no part. Dynamic programme over (sum, least cost) from the last unit to the first.
/// @param work steps (sums times choices, and width of the range of sums) that are left, below 0 where they ran out;
///        memory is at most 16 bytes for each of min(work, 2^24) states
/// @return nothing where there are none within the budget, or work ran out
std::optional<std::vector<std::int64_t>> search_core(std::int64_t total, const Choices& choices, std::int64_t budget,
                                                     std::int64_t& work) {
  std::vector<std::int64_t> base(choices.size());
  std::vector<Member> members;
  // The sums that the units before a member can still turn into the target; of all members first.
  std::int64_t target = total;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Member member{i, {}, 0, 0};
    for (const Choice& choice : choices[i]) {
      if (choice.cost <= budget) member.steps.push_back(choice);
    }
    std::ranges::stable_sort(member.steps, {}, &Choice::cost);
    base[i] = member.steps.front().units;
    target -= base[i];
    for (Choice& step : member.steps) step.units -= base[i];
    member.down = std::ranges::min(member.steps, {}, &Choice::units).units;
    member.up = std::ranges::max(member.steps, {}, &Choice::units).units;
    lowest -= member.up;
    highest -= member.down;
    if (member.steps.size() > 1) members.push_back(std::move(member));
  }
  lowest += target;
  highest += target;

  // states[j]: sums of members j, …; only what can become the target.
  std::vector<std::vector<State>> states(members.size() + 1);
  if (lowest <= 0 && 0 <= highest) states.back().push_back({0, 0});
  std::size_t kept = 0;
  std::vector<std::int64_t> least;
  for (std::size_t j = members.size(); j-- > 0;) {
    const std::vector<State>& after = states[j + 1];
    if (after.empty()) return std::nullopt;
    const Member& member = members[j];
    lowest += member.up;
    highest += member.down;
    const std::int64_t first = std::max(lowest, after.front().sum + member.down);
    const std::int64_t last = std::min(highest, after.back().sum + member.up);
    if (first > last) return std::nullopt;
    work -= last - first + 1;
    if (work < 0) return std::nullopt;
    least.assign(static_cast<std::size_t>(last - first + 1), unreached);
    for (const State& state : after) {
      std::int64_t tried = 0;
      for (const Choice& step : member.steps) {
        ++tried;
        if (step.cost > budget - state.cost) break;
        const std::int64_t sum = state.sum + step.units;
        if (sum < first || sum > last) continue;
        std::int64_t& cost = least[static_cast<std::size_t>(sum - first)];
        cost = std::min(cost, state.cost + step.cost);
      }
      work -= tried;
      if (work < 0) return std::nullopt;
    }
    states[j].reserve(least.size() - static_cast<std::size_t>(std::count(least.begin(), least.end(), unreached)));
    for (std::size_t k = 0; k < least.size(); ++k) {
      if (least[k] != unreached) states[j].push_back({first + static_cast<std::int64_t>(k), least[k]});
    }
    kept += states[j].size();
    if (kept > most_states) work = -1;
    if (work < 0) return std::nullopt;
  }
  const State* state = find(states.front(), target);
  if (state == nullptr) return std::nullopt;
  for (std::size_t j = 0; j < members.size(); ++j) {
    const Choice* best = nullptr;
    const State* best_after = nullptr;
    for (const Choice& step : members[j].steps) {
      if (step.cost > state->cost) break;
      const State* after = find(states[j + 1], state->sum - step.units);
      if (after == nullptr || after->cost + step.cost != state->cost) continue;
      if (best == nullptr || step.units > best->units) {
        best = &step;
        best_after = after;
      }
    }
    base[members[j].unit] += best->units;
    state = best_after;
  }
  return base;
}

/// The step from one choice to another.
Choice step_between(const Choice& a, const Choice& b) { return {b.units - a.units, b.cost - a.cost}; }

/// Slopes as exact fractions.
bool is_flatter(const Choice& a, const Choice& b) { return a.cost * b.units < b.cost * a.units; }

/// Corners of the lower convex hull.
std::vector<Choice> lower_hull(const std::vector<Choice>& choices) {
  std::vector<Choice> corners;
  for (const Choice& choice : choices) {
    while (corners.size() >= 2) {
      const Choice& last = corners.back();
      if (is_flatter(step_between(corners[corners.size() - 2], last), step_between(last, choice))) break;
      corners.pop_back();
    }
    corners.push_back(choice);
  }
  return corners;
}

/// The slope at which the hulls, each followed as far as it is flatter, reach `total`: the multiplier whose bound is
/// the greatest.
Choice best_multiplier(std::int64_t total, const Choices& choices) {
  std::vector<Choice> segments;
  std::int64_t sum = 0;
  for (const auto& unit : choices) {
    sum += unit.front().units;
    const std::vector<Choice> hull = lower_hull(unit);
    for (std::size_t i = 1; i < hull.size(); ++i) segments.push_back(step_between(hull[i - 1], hull[i]));
  }
  std::sort(segments.begin(), segments.end(), is_flatter);
  Choice last{1, 0};
  for (const Choice& segment : segments) {
    if (sum >= total) break;
    last = segment;
    sum += segment.units;
  }
  // In lowest terms it does not matter which of several segments of this slope came last.
  const std::int64_t divisor = std::gcd(last.units, last.cost);
  return {last.units / divisor, last.cost / divisor};
}

/// Costs replaced by reduced costs, times lambda's denominator.
Choices reduce_costs(Choices choices, const Choice& lambda) {
  for (auto& unit : choices) {
    for (Choice& choice : unit) choice.cost = lambda.units * choice.cost - lambda.cost * choice.units;
    const std::int64_t least = std::ranges::min(unit, {}, &Choice::cost).cost;
    for (Choice& choice : unit) choice.cost -= least;
  }
  return choices;
}

/// Without the choices that bounds and greatest common divisor of all other units rule out, which would spoil the
/// Lagrangian bound: a single odd size among even ones has to be taken for an odd total, however dear it is.
Choices possible_choices(std::int64_t total, const Choices& choices) {
  std::vector<std::int64_t> divisors;
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const auto& unit : choices) {
    std::int64_t divisor = 0;
    for (std::size_t k = 1; k < unit.size() && divisor != 1; ++k) {
      divisor = std::gcd(divisor, unit[k].units - unit[0].units);
    }
    divisors.push_back(divisor);
    least += unit.front().units;
    most += unit.back().units;
  }
  // Of the units before each and behind it.
  std::vector<std::int64_t> before(choices.size());
  std::vector<std::int64_t> after(choices.size());
  const auto gcd = [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); };
  std::exclusive_scan(divisors.begin(), divisors.end(), before.begin(), std::int64_t{0}, gcd);
  std::exclusive_scan(divisors.rbegin(), divisors.rend(), after.rbegin(), std::int64_t{0}, gcd);
  Choices possible(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(before[i], after[i]));
    const std::int64_t others_least = least - choices[i].front().units;
    const std::int64_t others_most = most - choices[i].back().units;
    for (const Choice& choice : choices[i]) {
      const std::int64_t others = total - choice.units;
      if (others < others_least || others > others_most || (others - others_least) % divisor != 0) continue;
      possible[i].push_back(choice);
    }
  }
  return possible;
}

/// Answer of least_total().
struct LeastTotal {
  std::vector<std::int64_t> units;
  bool is_least = false;      ///< proven: no choices that sum to the total cost less
  double excess_bound = 0.0;  ///< at most this much dearer than the least; 0 where `is_least`
};

/// One choice per processing unit so that sizes sum to `total` and costs sum to as little as possible: a
/// multiple-choice knapsack with equality, and among the cheapest the lexicographically greatest distribution.
///
/// The lower convex hulls give the best Lagrangian multiplier lambda (cost per computation unit). Every choice then
/// has a reduced cost r_i(x) = c_i(x) - lambda x - min_x' (c_i(x') - lambda x') >= 0, and a distribution costs the
/// Lagrangian bound plus its reduced costs. So the distributions within a budget G of reduced costs use choices with
/// r_i <= G only, and a dynamic programme over those few (the core) finds the best or shows that there is none;
/// G grows, doubling the core, until there is one. It is then optimal. `most_work` steps of the programme end that;
/// then the distribution with the smallest largest reduced cost is taken, within the bound that is reported.
/// Ends by proof wherever some distribution has reduced costs of zero only (found by sets of sums, whatever the size),
/// and for all inputs with 4 p m total <= most_work and p total <= 2^24 (the programme's memory).
/// @param all_choices some sum to the total; costs at least 0 and such that p (largest size) (largest cost) < 2^60
LeastTotal least_total(std::int64_t total, const Choices& all_choices, std::int64_t most_work) {
  const Choices choices = possible_choices(total, all_choices);
  const Choice lambda = best_multiplier(total, choices);
  const Choices reduced = reduce_costs(choices, lambda);
  if (auto split = find_split(total, reduced, 0, Prefer::more_units)) return {std::move(*split), true, 0.0};

  std::vector<std::int64_t> costs;
  for (const auto& unit : reduced) {
    for (const Choice& choice : unit) {
      if (choice.cost > 0) costs.push_back(choice.cost);
    }
  }
  std::int64_t work = most_work;
  for (std::size_t core = 32; work > 0; core *= 2) {
    // The last budget is of every distribution, so that a total that can be reached is.
    const bool everything = core >= costs.size();
    std::int64_t budget = unreached;
    if (!everything) {
      const auto dearest = costs.begin() + static_cast<std::ptrdiff_t>(core);
      std::nth_element(costs.begin(), dearest, costs.end());
      budget = *dearest;
    }
    if (auto split = search_core(total, reduced, budget, work)) return {std::move(*split), true, 0.0};
    if (everything) break;
  }
  const std::int64_t bottleneck = least_bottleneck(total, reduced).value();
  LeastTotal result{find_split(total, reduced, bottleneck, Prefer::less_cost).value(), false, 0.0};
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    const auto chosen = std::ranges::lower_bound(reduced[i], result.units[i], {}, &Choice::units);
    result.excess_bound += static_cast<double>(chosen->cost);
  }
  result.excess_bound /= static_cast<double>(lambda.units);
  return result;
}

/// The order of times >= 0 as whole numbers: the bits of IEEE 754 numbers of one sign are in the order of their values.
std::int64_t ordinal(double time_s) { return std::bit_cast<std::int64_t>(time_s + 0.0); }

/// Choices of each unit up to the total, sizes in steps of `divisor`, with the ordinals of times as costs.
Choices choices_of(std::int64_t total, TimeTables tables, std::int64_t divisor) {
  Choices choices;
  choices.reserve(tables.size());
  for (const TimeTable& table : tables) {
    const auto end = std::ranges::upper_bound(table.entries, total, {}, &TimeTable::Entry::units);
    // Behind the choice of nothing at no cost.
    auto& unit = choices.emplace_back(static_cast<std::size_t>(end - table.entries.begin()) + 1);
    std::transform(table.entries.begin(), end, unit.begin() + 1, [&](const TimeTable::Entry& entry) {
      return Choice{divisor > 1 ? entry.units / divisor : entry.units, ordinal(entry.time_s)};
    });
  }
  return choices;
}

/// Bits of the longest time in ticks, so few that p products of sizes and times fit into 62 bits together.
int bits_of_ticks(const Choices& choices) {
  std::int64_t largest = 1;
  for (const auto& unit : choices) largest = std::max(largest, unit.back().units);
  const auto width = [](auto number) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))); };
  const int bits = std::min(52, 60 - width(largest) - width(choices.size()));
  if (bits >= 1) return bits;
  throw InvalidArgument(
      fmt::format("{} time tables with sizes up to {} steps (expected a product below 2^58)", choices.size(), largest));
}

/// A time by its ordinal in whole ticks. The quotient by a tick, a power of two, is exact, so nothing is left to a
/// compiler's choice of instructions; times are not negative, so cutting off rounds down.
std::int64_t in_ticks(std::int64_t ordinal, double tick_s) {
  const double shifted = std::bit_cast<double>(ordinal) / tick_s + 0.5;
  return static_cast<std::int64_t>(shifted);
}

/// The least total time within the makespan in ticks, by the few choices that are near the largest sizes if they are
/// all that matters.
LeastTotal least_total_within(std::int64_t makespan, std::int64_t total, const Choices& choices, double tick_s,
                              std::int64_t most_work) {
  std::vector<std::size_t> largest;
  largest.reserve(choices.size());
  for (const auto& unit : choices) {
    std::size_t k = unit.size() - 1;
    while (unit[k].cost > makespan) --k;
    largest.push_back(k);
  }
  auto near = near_largest(total, choices, makespan, largest);
  if (near && near->work() <= most_work) {
    for (Choice& choice : near->choices) choice.cost = in_ticks(choice.cost, tick_s);
    LeastTotal least{least_total(*near).value(), true, 0.0};
    for (std::size_t i = 0; i < choices.size(); ++i) least.units[i] = choices[i][largest[i]].units - least.units[i];
    return least;
  }
  Choices within(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const Choice& choice : choices[i]) {
      if (choice.cost <= makespan) within[i].push_back({choice.units, in_ticks(choice.cost, tick_s)});
    }
  }
  return least_total(total, within, most_work);
}

}  // namespace

ExactResult exact(std::int64_t total, TimeTables tables, std::int64_t most_work) {
  require_feasible(total, tables);
  std::int64_t divisor = 0;
  for (const TimeTable& table : tables) {
    const auto& entries = table.entries;
    for (std::size_t k = 0; k < entries.size() && divisor != 1; ++k) divisor = std::gcd(divisor, entries[k].units);
  }
  divisor = std::max<std::int64_t>(divisor, 1);
  const Choices choices = choices_of(total, tables, divisor);
  const int bits = bits_of_ticks(choices);
  const auto makespan = total % divisor == 0 ? least_bottleneck(total / divisor, choices) : std::nullopt;
  if (!makespan) throw no_split(total, tables);
  ExactResult result;
  int exponent = 0;
  std::frexp(std::bit_cast<double>(*makespan), &exponent);
  const double tick_s = std::ldexp(1.0, std::max(exponent, -900) - bits);  // never 0
  LeastTotal least = least_total_within(*makespan, total / divisor, choices, tick_s, most_work);
  for (std::int64_t& units : least.units) units *= divisor;
  result.total_time_is_least = least.is_least;
  result.total_time_excess_s = least.excess_bound * tick_s;
  result.distribution = predict(std::move(least.units), tables);
  for (const double time_s : result.distribution.predicted_s) result.total_time_s += time_s;
  return result;
}

}  // namespace steelyard::partition
