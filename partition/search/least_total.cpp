#include "partition/search/least_total.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"

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
  const auto found = std::lower_bound(states.begin(), states.end(), sum,
                                      [](const State& state, std::int64_t value) { return state.sum < value; });
  return found == states.end() || found->sum != sum ? nullptr : &*found;
}

/// Answer of search_core().
struct CoreSearch {
  std::optional<std::vector<std::int64_t>> split;  ///< nothing where there is none within the budget, or work ran out
  std::int64_t work = 0;                           ///< steps taken
};

/// The choices that sum to `total` and whose costs sum to the least, if that is at most `budget`; of several the
/// lexicographically greatest. Every processing unit has a choice of cost 0; units that have just one choice within
/// the budget take no part. Dynamic programme over (sum, least cost) from the last unit to the first.
/// @param most_work steps (sums times choices, and width of the range of sums) after which it gives up; memory is at
///        most 16 bytes for each of min(most_work, 2^24) states
CoreSearch search_core(std::int64_t total, const Choices& choices, std::int64_t budget, std::int64_t most_work) {
  CoreSearch result;
  std::vector<std::int64_t> base(choices.size());
  std::vector<Member> members;
  std::int64_t target = total;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Member member{i, {}, 0, 0};
    for (const Choice& choice : choices[i]) {
      if (choice.cost <= budget) member.steps.push_back(choice);
    }
    std::stable_sort(member.steps.begin(), member.steps.end(),
                     [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
    base[i] = member.steps.front().units;
    target -= base[i];
    for (Choice& step : member.steps) {
      step.units -= base[i];
      member.down = std::min(member.down, step.units);
      member.up = std::max(member.up, step.units);
    }
    if (member.steps.size() > 1) members.push_back(std::move(member));
  }
  // The sums that the units before each member can still turn into the target.
  std::vector<std::int64_t> lowest(members.size() + 1, target);
  std::vector<std::int64_t> highest(members.size() + 1, target);
  for (std::size_t j = 0; j < members.size(); ++j) {
    lowest[j + 1] = lowest[j] - members[j].up;
    highest[j + 1] = highest[j] - members[j].down;
  }

  // states[j]: sums of members j, …; only what can become the target.
  std::vector<std::vector<State>> states(members.size() + 1);
  if (lowest.back() <= 0 && 0 <= highest.back()) states.back().push_back({0, 0});
  std::size_t kept = 0;
  std::vector<std::int64_t> least;
  for (std::size_t j = members.size(); j-- > 0;) {
    const std::vector<State>& after = states[j + 1];
    if (after.empty()) return result;
    const Member& member = members[j];
    const std::int64_t first = std::max(lowest[j], after.front().sum + member.down);
    const std::int64_t last = std::min(highest[j], after.back().sum + member.up);
    if (first > last) return result;
    result.work += last - first + 1;
    if (result.work > most_work) return result;
    least.assign(static_cast<std::size_t>(last - first + 1), unreached);
    for (const State& state : after) {
      for (const Choice& step : member.steps) {
        ++result.work;
        if (step.cost > budget - state.cost) break;
        const std::int64_t sum = state.sum + step.units;
        if (sum < first || sum > last) continue;
        std::int64_t& cost = least[static_cast<std::size_t>(sum - first)];
        cost = std::min(cost, state.cost + step.cost);
      }
      if (result.work > most_work) return result;
    }
    states[j].reserve(least.size() - static_cast<std::size_t>(std::count(least.begin(), least.end(), unreached)));
    for (std::size_t k = 0; k < least.size(); ++k) {
      if (least[k] != unreached) states[j].push_back({first + static_cast<std::int64_t>(k), least[k]});
    }
    kept += states[j].size();
    if (kept > most_states) {
      result.work = most_work + 1;
      return result;
    }
  }
  const State* state = find(states.front(), target);
  if (state == nullptr) return result;
  result.split = std::move(base);
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
    (*result.split)[members[j].unit] += best->units;
    state = best_after;
  }
  return result;
}

/// A step on a lower convex hull.
struct Segment {
  std::int64_t units = 0;
  std::int64_t cost = 0;
};

/// Slopes as exact fractions.
bool is_flatter(const Segment& a, const Segment& b) { return a.cost * b.units < b.cost * a.units; }

std::vector<Segment> lower_hull(const std::vector<Choice>& choices) {
  std::vector<Choice> corners;
  for (const Choice& choice : choices) {
    while (corners.size() >= 2) {
      const Choice& a = corners[corners.size() - 2];
      const Choice& b = corners.back();
      if (is_flatter({b.units - a.units, b.cost - a.cost}, {choice.units - b.units, choice.cost - b.cost})) break;
      corners.pop_back();
    }
    corners.push_back(choice);
  }
  std::vector<Segment> segments;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    segments.push_back({corners[i].units - corners[i - 1].units, corners[i].cost - corners[i - 1].cost});
  }
  return segments;
}

/// The slope at which the hulls, each followed as far as it is flatter, reach `total`: the multiplier whose bound is
/// the greatest.
Segment best_multiplier(std::int64_t total, const Choices& choices) {
  std::vector<Segment> segments;
  std::int64_t sum = 0;
  for (const auto& unit : choices) {
    sum += unit.front().units;
    const std::vector<Segment> hull = lower_hull(unit);
    segments.insert(segments.end(), hull.begin(), hull.end());
  }
  std::sort(segments.begin(), segments.end(), is_flatter);
  Segment last{1, 0};
  for (const Segment& segment : segments) {
    if (sum >= total) break;
    last = segment;
    sum += segment.units;
  }
  // In lowest terms it does not matter which of several segments of this slope came last.
  const std::int64_t divisor = std::gcd(last.units, last.cost);
  return {last.units / divisor, last.cost / divisor};
}

/// Costs replaced by reduced costs, times lambda's denominator.
Choices reduce_costs(const Choices& choices, const Segment& lambda) {
  Choices reduced = choices;
  for (auto& unit : reduced) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (Choice& choice : unit) {
      choice.cost = lambda.units * choice.cost - lambda.cost * choice.units;
      least = std::min(least, choice.cost);
    }
    for (Choice& choice : unit) choice.cost -= least;
  }
  return reduced;
}

/// Without the choices that bounds and greatest common divisor of all other units rule out, which would spoil the
/// Lagrangian bound: a single odd size among even ones has to be taken for an odd total, however dear it is.
Choices possible_choices(std::int64_t total, const Choices& choices) {
  const std::size_t count = choices.size();
  const auto divisor_of = [](const std::vector<Choice>& unit) {
    std::int64_t divisor = 0;
    for (const Choice& choice : unit) {
      divisor = std::gcd(divisor, choice.units - unit.front().units);
      if (divisor == 1) break;
    }
    return divisor;
  };
  // Of units 0, …, i - 1 and of units i, …, p - 1.
  std::vector<std::int64_t> before(count + 1, 0);
  std::vector<std::int64_t> after(count + 1, 0);
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    before[i + 1] = std::gcd(before[i], divisor_of(choices[i]));
    least += choices[i].front().units;
    most += choices[i].back().units;
  }
  for (std::size_t i = count; i-- > 0;) after[i] = std::gcd(after[i + 1], divisor_of(choices[i]));
  Choices possible(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(before[i], after[i + 1]));
    const std::int64_t others_least = least - choices[i].front().units;
    const std::int64_t others_most = most - choices[i].back().units;
    for (const Choice& choice : choices[i]) {
      const std::int64_t others = total - choice.units;
      if (others < others_least || others > others_most || (others - others_least) % divisor != 0) continue;
      possible[i].push_back(choice);
    }
    if (possible[i].empty()) throw InvalidArgument(fmt::format("no choices sum to {} computation units", total));
  }
  return possible;
}

}  // namespace

LeastTotal least_total(std::int64_t total, const Choices& all_choices, std::int64_t most_work) {
  const Choices choices = possible_choices(total, all_choices);
  const Segment lambda = best_multiplier(total, choices);
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
    // Beyond the dearest choices budgets grow until every distribution is within, so that a total that can be reached
    // is.
    const bool everything = core >= costs.size();
    std::int64_t budget = std::numeric_limits<std::int64_t>::max();
    if (!everything) {
      const auto dearest = costs.begin() + static_cast<std::ptrdiff_t>(core);
      std::nth_element(costs.begin(), dearest, costs.end());
      budget = *dearest;
    }
    const CoreSearch search = search_core(total, reduced, budget, work);
    if (search.split) return {*search.split, true, 0.0};
    work -= search.work;
    if (everything) break;
  }
  const auto bottleneck = least_bottleneck(total, reduced);
  if (!bottleneck) throw InvalidArgument(fmt::format("no choices sum to {} computation units", total));
  LeastTotal result{*find_split(total, reduced, *bottleneck, Prefer::less_cost), false, 0.0};
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    for (const Choice& choice : reduced[i]) {
      if (choice.units == result.units[i]) result.excess_bound += static_cast<double>(choice.cost);
    }
  }
  result.excess_bound /= static_cast<double>(lambda.units);
  return result;
}

}  // namespace steelyard::partition
