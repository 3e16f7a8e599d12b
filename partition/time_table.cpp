#include "partition/time_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace steelyard::partition {
namespace {

constexpr std::int64_t most_entries = std::int64_t{1} << 27;  // 2 GiB of them

void require_valid(const TimeTable& table, std::size_t index) {
  // Without a way out of the loop it takes a fraction of the time; only a table that is not valid is read again.
  bool is_valid = true;
  std::int64_t before = 0;
  for (const TimeTable::Entry& entry : table.entries) {
    is_valid &= (entry.units > before) & (entry.time_s >= 0.0) & (entry.time_s <= std::numeric_limits<double>::max());
    before = entry.units;
  }
  if (is_valid) return;
  before = 0;
  for (const TimeTable::Entry& entry : table.entries) {
    if (entry.units <= before || !(entry.time_s >= 0.0 && std::isfinite(entry.time_s))) {
      throw InvalidArgument(
          fmt::format("time table of unit {}: {} s for size {} after {} (expected finite times >= 0 and sizes > 0, "
                      "increasing)",
                      index, entry.time_s, entry.units, before));
    }
    before = entry.units;
  }
}

/// Names a granularity that is large enough: the least divisor of the total from `least` on.
std::string larger_granularity(std::int64_t total, std::int64_t least) {
  constexpr std::int64_t most_tried = 10'000'000;
  std::int64_t found = total;
  for (std::int64_t d = 1; d <= total / d && d <= most_tried; ++d) {
    if (total % d != 0) continue;
    if (d >= least) found = std::min(found, d);
    if (total / d >= least) found = std::min(found, total / d);
  }
  return found < total ? fmt::format("expected a granularity of {} or more that divides the total", found)
                       : "no granularity divides the total; expected another total, or an algorithm without tables, "
                         "such as geometric";
}

}  // namespace

double TimeTable::time_s(std::int64_t units) const {
  if (units == 0) return 0.0;
  const auto found = std::ranges::lower_bound(entries, units, {}, &Entry::units);
  return found == entries.end() || found->units != units ? std::numeric_limits<double>::infinity() : found->time_s;
}

TimeTable tabulate(const models::SpeedModel& model, std::int64_t total) {
  if (total < 0) throw InvalidArgument(fmt::format("{} computation units to tabulate (expected >= 0)", total));
  const std::int64_t most = capacity(model, total);
  TimeTable table;
  table.entries.reserve(static_cast<std::size_t>(most));
  for (std::int64_t units = 1; units <= most; ++units) {
    const double time_s = model.time_s(static_cast<double>(units));
    if (std::isfinite(time_s)) table.entries.push_back({units, time_s});
  }
  return table;
}

std::vector<TimeTable> tabulate(Models models, std::int64_t total) {
  require_feasible(total, models);
  const auto count = static_cast<std::int64_t>(models.size());
  if (total > most_entries / count) {
    throw InvalidArgument(
        fmt::format("{} computation units for each of {} processing units are more than {} table entries ({})", total,
                    count, most_entries, larger_granularity(total, total / (most_entries / count) + 1)));
  }
  std::vector<TimeTable> tables;
  tables.reserve(models.size());
  for (const models::SpeedModel* model : models) tables.push_back(tabulate(*model, total));
  return tables;
}

void require_feasible(std::int64_t total, TimeTables tables) {
  if (total < 0) throw InvalidArgument(fmt::format("{} computation units to distribute (expected >= 0)", total));
  if (tables.empty()) throw InvalidArgument("no time tables to distribute over (expected at least one)");
  std::int64_t room = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    require_valid(tables[i], i);
    if (!tables[i].entries.empty()) room += std::min(tables[i].entries.back().units, total - room);
  }
  if (room < total) {
    throw InvalidArgument(
        fmt::format("{} computation units do not fit: the time tables allow {} together", total, room));
  }
}

InvalidArgument no_split(std::int64_t total, TimeTables tables) {
  return InvalidArgument(
      fmt::format("{} computation units cannot be split: no sum of the sizes in the {} time tables is {}", total,
                  tables.size(), total));
}

Distribution predict(std::vector<std::int64_t> units, TimeTables tables) {
  if (units.size() != tables.size()) {
    throw InvalidArgument(fmt::format("{} slices for {} time tables (expected as many)", units.size(), tables.size()));
  }
  Distribution distribution{std::move(units), {}};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    distribution.predicted_s.push_back(tables[i].time_s(distribution.units[i]));
  }
  return distribution;
}

}  // namespace steelyard::partition
