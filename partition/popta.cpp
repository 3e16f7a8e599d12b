#include "partition/popta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/search/sum_set.hpp"

namespace steelyard::partition {
namespace {

constexpr std::int64_t most_steps = std::int64_t{1} << 27;

std::vector<std::int64_t> numbers_in(const Bits& bits) {
  std::vector<std::int64_t> numbers;
  for (std::size_t word = 0; word < bits.size(); ++word) {
    for (std::uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      numbers.push_back(static_cast<std::int64_t>(64 * word) + std::countr_zero(rest));
    }
  }
  return numbers;
}

/// Which sums there are of `count` sizes out of one set, any of them as often as wanted, and which sizes they are made
/// of. Sums of k sizes are sums of two sums, of k / 2 and of the rest, so only about 2 log2(count) sets are needed.
class RepeatedSums {
 public:
  /// @param sizes increasing, the first one 0, up to `total` @param count >= 1
  RepeatedSums(std::span<const std::int64_t> sizes, std::int64_t count, std::int64_t total)
      : count_(count), total_(total) {
    sums_.emplace(1, sumset(Bits{1}, sizes, 1, sizes.back() + 1));
    if (count > 1) {
      add_sums_of(count / 2);
      add_sums_of(count - count / 2);
    }
  }

  /// Whether `total` is a sum.
  bool reaches_total() const { return first_of(count_, total_) >= 0; }

  /// `count` sizes, decreasing, that sum to `total`: of equal numbers as close to each other as the halves that are
  /// tried from the middle on allow. Only where reaches_total().
  std::vector<std::int64_t> split() const {
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
    std::ranges::sort(sizes, std::greater<>());
    return sizes;
  }

 private:
  void add_sums_of(std::int64_t count) {
    if (sums_.contains(count)) return;
    const std::int64_t half = count / 2;
    add_sums_of(half);
    add_sums_of(count - half);
    const Bits& one = sums_.at(half);
    const Bits& other = sums_.at(count - half);
    const auto most = static_cast<std::int64_t>(one.size() + other.size()) * 64 - 2;
    sums_.emplace(count, sumset(other, numbers_in(one), 1, std::min(most, total_) + 1));
  }

  /// Part of a sum of `count` sizes that count / 2 of them make up, near its share; -1 where it is no such sum.
  std::int64_t first_of(std::int64_t count, std::int64_t sum) const {
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

  std::int64_t count_;
  std::int64_t total_;
  std::map<std::int64_t, Bits> sums_;  ///< of as many sizes; all but those of `count` themselves
};

/// 0 and the sizes up to `total` that take at most `time_s`, in steps.
std::vector<std::int64_t> sizes_within(double time_s, const TimeTable& table, std::int64_t step, std::int64_t total) {
  std::vector<std::int64_t> sizes{0};
  for (const TimeTable::Entry& entry : table.entries) {
    if (entry.units <= total && entry.time_s <= time_s) sizes.push_back(entry.units / step);
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
    const std::vector<std::int64_t> sizes = sizes_within(time_s, table, step, total);
    if (total % step != 0 || sizes.size() == 1 || (total / step - 1) / sizes.back() >= processors) return std::nullopt;
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
