#include "partition/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/least_total.hpp"

namespace steelyard::partition {
namespace {

/// The order of times >= 0 as whole numbers: the bits of IEEE 754 numbers of one sign are in the order of their values.
std::int64_t ordinal(double time_s) { return std::bit_cast<std::int64_t>(time_s + 0.0); }

/// What may be chosen, sizes in steps of `divisor`, with the ordinals of times as costs.
Choices choices_of(std::int64_t total, TimeTables tables, std::int64_t granularity, std::int64_t divisor) {
  Choices choices;
  choices.reserve(tables.size());
  for (const TimeTable& table : tables) {
    auto& unit = choices.emplace_back();
    unit.reserve(table.entries.size() + 1);
    unit.push_back({0, 0});
    for (const TimeTable::Entry& entry : table.entries) {
      if (entry.units > total) break;
      if (entry.units % granularity == 0) unit.push_back({entry.units / divisor, ordinal(entry.time_s)});
    }
  }
  return choices;
}

/// Leaves what takes at most `makespan_s`, with times in ticks. A tick is a power of two, so small that rounding hardly
/// shows and so large that p products of sizes and times fit into 62 bits together.
Choices in_ticks(const Choices& choices, double makespan_s, double& tick_s) {
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
  tick_s = std::ldexp(1.0, exponent - bits);
  const double ticks_per_s = std::ldexp(1.0, bits - exponent);
  Choices result(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const Choice& choice : choices[i]) {
      const double time_s = std::bit_cast<double>(choice.cost);
      if (time_s <= makespan_s) {
        // The product with a power of two is exact, so nothing is left to a compiler's choice of instructions.
        result[i].push_back({choice.units, static_cast<std::int64_t>(std::floor(time_s * ticks_per_s + 0.5))});
      }
    }
  }
  return result;
}

}  // namespace

ExactResult exact(std::int64_t total, TimeTables tables, const ExactOptions& options) {
  require_feasible(total, tables);
  const std::int64_t granularity = options.granularity;
  if (granularity < 1 || total % granularity != 0) {
    throw InvalidArgument(
        fmt::format("granularity {} for {} computation units (expected a divisor of the total)", granularity, total));
  }
  std::int64_t divisor = 0;
  for (const TimeTable& table : tables) {
    for (const TimeTable::Entry& entry : table.entries) {
      if (divisor != 1 && entry.units % granularity == 0) divisor = std::gcd(divisor, entry.units);
    }
  }
  divisor = std::max<std::int64_t>(divisor, 1);
  const Choices choices = choices_of(total, tables, granularity, divisor);
  const auto makespan = total % divisor == 0 ? least_bottleneck(total / divisor, choices) : std::nullopt;
  if (!makespan) {
    throw InvalidArgument(fmt::format(
        "{} computation units cannot be split: no sum of the sizes in the {} time tables{} is {}", total, tables.size(),
        granularity > 1 ? fmt::format(" that are multiples of {}", granularity) : "", total));
  }
  ExactResult result;
  result.makespan_s = std::bit_cast<double>(*makespan);
  double tick_s = 0.0;
  LeastTotal least = least_total(total / divisor, in_ticks(choices, result.makespan_s, tick_s), options.most_work);
  for (std::int64_t& units : least.units) units *= divisor;
  result.total_time_is_least = least.is_least;
  result.total_time_excess_s = least.excess_bound * tick_s;
  result.distribution = predict(std::move(least.units), tables);
  for (const double time_s : result.distribution.predicted_s) result.total_time_s += time_s;
  return result;
}

Distribution exact(std::int64_t total, Models models) {
  const std::vector<TimeTable> tables = tabulate(models, total);
  return exact(total, tables).distribution;
}

}  // namespace steelyard::partition
