#include "partition/search/core_search.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace

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

}  // namespace steelyard::partition
