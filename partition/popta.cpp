#include "partition/popta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/base/errors.hpp"
#include "partition/search/repeated_sums.hpp"
#include "partition/search/same_model.hpp"

namespace steelyard::partition {
namespace {

constexpr std::int64_t most_steps = std::int64_t{1} << 27;

/// The sizes that take at most `time_s`, in steps.
std::vector<std::int64_t> sizes_within(double time_s, const TimeTable& table, std::int64_t step) {
  std::vector<std::int64_t> sizes;
  for (const TimeTable::Entry& entry : table.entries) {
    if (entry.time_s <= time_s) sizes.push_back(entry.units / step);
  }
  return sizes;
}

}  // namespace

Distribution popta(std::int64_t total, const TimeTable& table, std::int64_t processors) {
  if (processors < 1) throw InvalidArgument(fmt::format("{} processors (expected at least one)", processors));
  require_feasible(0, std::span(&table, 1));
  const std::int64_t largest = table.entries.empty() ? 0 : table.entries.back().units;
  if (total < 0 || (total > 0 && (largest == 0 || (total - 1) / largest >= processors))) {
    throw InvalidArgument(
        fmt::format("{} computation units for {} processors of at most {} each", total, processors, largest));
  }
  const auto result = [&](std::vector<std::int64_t> units) {
    Distribution distribution{std::move(units), {}};
    for (const std::int64_t size : distribution.units) distribution.predicted_s.push_back(table.time_s(size));
    return distribution;
  };
  if (total == 0) return result(std::vector<std::int64_t>(static_cast<std::size_t>(processors), 0));

  std::int64_t step = 0;
  std::vector<double> times;
  for (const TimeTable::Entry& entry : table.entries) {
    step = std::gcd(step, entry.units);
    times.push_back(entry.time_s);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (total / step > most_steps) {
    throw InvalidArgument(fmt::format("{} computation units in steps of {} are more than {} (expected a coarser table)",
                                      total, step, most_steps));
  }
  const auto attempt = [&](double time_s) -> std::optional<RepeatedSums> {
    const std::vector<std::int64_t> sizes = sizes_within(time_s, table, step);
    if (total % step != 0 || sizes.empty() || (total / step - 1) / sizes.back() >= processors) return std::nullopt;
    RepeatedSums sums(sizes, processors, total / step);
    return sums.reaches_total() ? std::optional(std::move(sums)) : std::nullopt;
  };
  const auto least = std::partition_point(times.begin(), times.end(), [&](double time_s) { return !attempt(time_s); });
  if (least == times.end()) {
    throw InvalidArgument(fmt::format("{} computation units cannot be split: no {} sizes of the time table sum to it",
                                      total, processors));
  }
  std::vector<std::int64_t> units = attempt(*least)->split();
  for (std::int64_t& size : units) size *= step;
  return result(std::move(units));
}

Distribution popta(std::int64_t total, Models models) {
  require_feasible(total, models);
  for (std::size_t i = 1; i < models.size(); ++i) {
    if (!same_model(*models[i], *models[0])) {
      throw InvalidArgument(fmt::format("model {} differs from model 0 (expected identical processors)", i));
    }
  }
  if (total > most_steps) {
    throw InvalidArgument(fmt::format("{} computation units to tabulate (expected at most {})", total, most_steps));
  }
  return popta(total, tabulate(*models[0], total), static_cast<std::int64_t>(models.size()));
}

}  // namespace steelyard::partition
