#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"
#include "partition/search/sum_set.hpp"
#include "partition/time_table.hpp"

namespace steelyard::partition {
namespace {

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
    if (count > 1) add_sums_of(count / 2);
    add_sums_of(count - count / 2);
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

}  // namespace

Distribution popta(std::int64_t total, Models models) {
  require_feasible(total, models);
  for (std::size_t i = 1; i < models.size(); ++i) {
    if (!same_model(*models[i], *models[0])) {
      throw InvalidArgument(fmt::format("model {} differs from model 0 (expected identical processors)", i));
    }
  }
  constexpr std::int64_t most_units = std::int64_t{1} << 27;
  if (total > most_units) {
    throw InvalidArgument(fmt::format("{} computation units to tabulate (expected at most {})", total, most_units));
  }
  if (total == 0) return predict(std::vector<std::int64_t>(models.size(), 0), models);

  const TimeTable table = tabulate(*models[0], total);
  std::int64_t step = total;
  std::vector<double> times;
  for (const TimeTable::Entry& entry : table.entries) {
    step = std::gcd(step, entry.units);
    times.push_back(entry.time_s);
  }
  std::sort(times.begin(), times.end());
  const auto count = static_cast<std::int64_t>(models.size());
  const auto attempt = [&](double time_s) -> std::optional<RepeatedSums> {
    std::vector<std::int64_t> sizes{0};
    for (const TimeTable::Entry& entry : table.entries) {
      if (entry.time_s <= time_s) sizes.push_back(entry.units / step);
    }
    if (sizes.back() * count < total / step) return std::nullopt;
    RepeatedSums sums(sizes, count, total / step);
    return sums.reaches_total() ? std::optional(std::move(sums)) : std::nullopt;
  };
  const auto least = std::partition_point(times.begin(), times.end(), [&](double time_s) { return !attempt(time_s); });
  if (least == times.end()) {
    throw InvalidArgument(
        fmt::format("{} computation units cannot be split: no {} sizes of the models sum to it", total, count));
  }
  std::vector<std::int64_t> units = attempt(*least)->split();
  for (std::int64_t& size : units) size *= step;
  return predict(std::move(units), models);
}

}  // namespace steelyard::partition
