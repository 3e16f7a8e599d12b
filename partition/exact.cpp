#include "partition/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "core/base/errors.hpp"
#include "partition/search/least_total.hpp"

namespace steelyard::partition {
namespace {

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

/// Times in whole ticks. A tick is a power of two, so small that rounding hardly shows and so large that p products of
/// sizes and times fit into 62 bits together.
struct Ticks {
  double tick_s = 0.0;
  double per_s = 0.0;

  /// Key of a time by its ordinal. The product with a power of two is exact, so nothing is left to a compiler's choice
  /// of instructions; times are not negative, so cutting off rounds down.
  std::int64_t operator()(std::int64_t ordinal) const {
    const double shifted = std::bit_cast<double>(ordinal) * per_s + 0.5;
    return static_cast<std::int64_t>(shifted);
  }
};

Ticks ticks_for(const Choices& choices, double makespan_s) {
  std::int64_t largest = 1;
  for (const auto& unit : choices) largest = std::max(largest, unit.back().units);
  const auto width = [](auto number) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))); };
  const int bits = std::min(52, 60 - width(largest) - width(choices.size()));
  if (bits < 1) {
    throw InvalidArgument(fmt::format("{} time tables with sizes up to {} steps (expected a product below 2^58)",
                                      choices.size(), largest));
  }
  int exponent = 0;
  std::frexp(makespan_s, &exponent);
  exponent = std::max(exponent, -900);  // the scale stays finite
  return {std::ldexp(1.0, exponent - bits), std::ldexp(1.0, bits - exponent)};
}

/// Leaves what takes at most the makespan, with times in ticks.
Choices in_ticks(const Choices& choices, std::int64_t makespan, const Ticks& ticks) {
  Choices result(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const Choice& choice : choices[i]) {
      if (choice.cost <= makespan) result[i].push_back({choice.units, ticks(choice.cost)});
    }
  }
  return result;
}

/// The least total time within the makespan, by the few choices that are near the largest sizes if they are all that
/// matters.
LeastTotal least_total_within(std::int64_t total, const Choices& choices, std::int64_t makespan, const Ticks& ticks,
                              std::int64_t most_work) {
  std::vector<std::size_t> largest;
  largest.reserve(choices.size());
  for (const auto& unit : choices) {
    std::size_t k = unit.size() - 1;
    while (unit[k].cost > makespan) --k;
    largest.push_back(k);
  }
  auto near = near_largest(total, choices, makespan, largest);
  if (!near || near->work() > most_work) return least_total(total, in_ticks(choices, makespan, ticks), most_work);
  for (Choice& choice : near->choices) choice.cost = ticks(choice.cost);
  LeastTotal least{least_total(*near).value(), true, 0.0};
  for (std::size_t i = 0; i < choices.size(); ++i) least.units[i] = choices[i][largest[i]].units - least.units[i];
  return least;
}

}  // namespace

ExactResult exact(std::int64_t total, TimeTables tables, std::int64_t most_work) {
  require_feasible(total, tables);
  std::int64_t divisor = 0;
  for (const TimeTable& table : tables) {
    for (const TimeTable::Entry& entry : table.entries) {
      if (divisor == 1) break;
      divisor = std::gcd(divisor, entry.units);
    }
  }
  divisor = std::max<std::int64_t>(divisor, 1);
  const Choices choices = choices_of(total, tables, divisor);
  const auto makespan = total % divisor == 0 ? least_bottleneck(total / divisor, choices) : std::nullopt;
  if (!makespan) throw no_split(total, tables);
  ExactResult result;
  const Ticks ticks = ticks_for(choices, std::bit_cast<double>(*makespan));
  LeastTotal least = least_total_within(total / divisor, choices, *makespan, ticks, most_work);
  for (std::int64_t& units : least.units) units *= divisor;
  result.total_time_is_least = least.is_least;
  result.total_time_excess_s = least.excess_bound * ticks.tick_s;
  result.distribution = predict(std::move(least.units), tables);
  for (const double time_s : result.distribution.predicted_s) result.total_time_s += time_s;
  return result;
}

Distribution exact(std::int64_t total, Models models) {
  const std::vector<TimeTable> tables = tabulate(models, total);
  return exact(total, tables).distribution;
}

}  // namespace steelyard::partition
