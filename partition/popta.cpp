#include "partition/popta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

namespace {

using Bits = std::vector<std::uint64_t>;

bool has(const Bits& bits, std::int64_t at) {
  const auto word = static_cast<std::size_t>(at / 64);
  return at >= 0 && word < bits.size() && (bits[word] >> (at % 64) & 1U) != 0;
}

void set(Bits& bits, std::int64_t at) { bits[static_cast<std::size_t>(at / 64)] |= std::uint64_t{1} << (at % 64); }

struct Run {
  std::int64_t first;
  std::int64_t end;
};

std::vector<Run> runs_of(const Bits& bits) {
  std::vector<Run> runs;
  const auto size = static_cast<std::int64_t>(bits.size()) * 64;
  std::int64_t at = 0;
  const auto skip = [&](bool value) {  // to the next bit of another value
    while (at < size) {
      const std::uint64_t word = bits[static_cast<std::size_t>(at / 64)] >> (at % 64);
      const int same = value ? std::countr_one(word) : std::countr_zero(word);
      const int left = static_cast<int>(64 - at % 64);
      at += std::min(same, left);
      if (same < left) return;
    }
  };
  for (skip(false); at < size; skip(false)) {
    const std::int64_t first = at;
    skip(true);
    runs.push_back({first, at});
  }
  return runs;
}

std::int64_t size_of(const Bits& bits) {
  std::int64_t size = 0;
  for (const std::uint64_t word : bits) size += std::popcount(word);
  return size;
}

void or_shifted(const Bits& from, std::int64_t shift, Bits& into) {
  const auto words = static_cast<std::size_t>(shift / 64);
  const int bits = static_cast<int>(shift % 64);
  const std::size_t count = into.size() > words ? std::min(from.size(), into.size() - words) : 0;
  for (std::size_t i = 0; i < count; ++i) into[i + words] |= from[i] << bits;
  if (bits == 0) return;
  for (std::size_t i = 0; i < count && i + words + 1 < into.size(); ++i) into[i + words + 1] |= from[i] >> (64 - bits);
}

/// All sums up to `most`; a few beyond it may be among them.
Bits sums_of(const Bits& one, const Bits& other, std::int64_t most) {
  Bits sums(static_cast<std::size_t>(most / 64 + 1), 0);
  const std::vector<Run> one_runs = runs_of(one);
  const std::vector<Run> other_runs = runs_of(other);
  const Bits& fewer = size_of(one) <= size_of(other) ? one : other;
  const Bits& rest = &fewer == &one ? other : one;
  const double pairs = static_cast<double>(one_runs.size()) * static_cast<double>(other_runs.size());
  if (pairs + static_cast<double>(most) > static_cast<double>(size_of(fewer)) * static_cast<double>(sums.size())) {
    for (const Run& run : &fewer == &one ? one_runs : other_runs) {
      for (std::int64_t at = run.first; at < run.end && at <= most; ++at) or_shifted(rest, at, sums);
    }
    return sums;
  }
  // How many more ranges of sums begin than end at each.
  std::vector<std::int64_t> begins(static_cast<std::size_t>(most) + 2, 0);
  for (const Run& a : one_runs) {
    for (const Run& b : other_runs) {
      if (a.first + b.first > most) break;
      ++begins[static_cast<std::size_t>(a.first + b.first)];
      --begins[static_cast<std::size_t>(std::min(a.end + b.end - 1, most + 1))];
    }
  }
  std::int64_t covered = 0;
  for (std::int64_t at = 0; at <= most; ++at) {
    covered += begins[static_cast<std::size_t>(at)];
    if (covered > 0) set(sums, at);
  }
  return sums;
}

}  // namespace

RepeatedSums::RepeatedSums(std::span<const std::int64_t> sizes, std::int64_t count, std::int64_t total)
    : count_(count), total_(total) {
  std::int64_t most = 0;
  for (const std::int64_t size : sizes) most = size <= total ? size : most;
  Bits single(static_cast<std::size_t>(most / 64 + 1), 0);
  set(single, 0);
  for (const std::int64_t size : sizes) {
    if (size <= total) set(single, size);
  }
  sums_.emplace(1, std::move(single));
  if (count > 1) {
    add_sums_of(count / 2);
    add_sums_of(count - count / 2);
  }
}

void RepeatedSums::add_sums_of(std::int64_t count) {
  if (sums_.count(count) > 0) return;
  const std::int64_t half = count / 2;
  add_sums_of(half);
  add_sums_of(count - half);
  const Bits& one = sums_.at(half);
  const Bits& other = sums_.at(count - half);
  const auto most = static_cast<std::int64_t>(one.size() + other.size()) * 64 - 2;
  sums_.emplace(count, sums_of(one, other, std::min(most, total_)));
}

/// Part of a sum of `count` sizes that count / 2 of them make up, near its share; -1 where it is no such sum.
std::int64_t RepeatedSums::first_of(std::int64_t count, std::int64_t sum) const {
  if (count == 1) return has(sums_.at(1), sum) ? sum : -1;
  const std::int64_t half = count / 2;
  const Bits& one = sums_.at(half);
  const Bits& other = sums_.at(count - half);
  const std::int64_t share = sum / count * half + sum % count * half / count;
  for (std::int64_t away = 0; away <= std::max(share, sum - share); ++away) {
    for (const std::int64_t part : {share + away, share - away}) {
      if (part >= 0 && part <= sum && has(one, part) && has(other, sum - part)) return part;
    }
  }
  return -1;
}

std::vector<std::int64_t> RepeatedSums::split() const {
  // Equal sums of equally many sizes are split alike, so they are looked up together.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t, std::greater<>> open{{{count_, total_}, 1}};
  std::vector<std::int64_t> sizes;
  while (!open.empty()) {
    const auto [sum, times] = *open.begin();
    open.erase(open.begin());
    const auto [count, value] = sum;
    if (count == 1) {
      sizes.insert(sizes.end(), static_cast<std::size_t>(times), value);
      continue;
    }
    const std::int64_t part = first_of(count, value);
    open[{count / 2, part}] += times;
    open[{count - count / 2, value - part}] += times;
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

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
