// Equal times: the sizes x_i(T) that units do within T are eliminated, and x_1(T) + … + x_p(T) = total is solved for T
// (solve_common_time). Where the sum jumps past the total, the unit that jumps takes T and the others less
// (split_by_common_times). Where that fails, T is bisected further with the sums of all ranges of sizes within T
// (split_within); then times other than the makespan are not equalised.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"
#include "partition/time_profile.hpp"

namespace steelyard::partition {
namespace {

using Sizes = std::vector<std::int64_t>;
/// One profile per processing unit.
using TimeProfiles = std::span<const TimeProfile* const>;

/// A sum that may exceed what fits into 64 bits, compared with a total that does not.
struct Sum {
  double value = 0.0;      ///< rounded
  std::int64_t whole = 0;  ///< exact, where it does not exceed the total
  bool exceeds = false;    ///< the total

  Sum(std::span<const std::int64_t> sizes, std::int64_t total) {
    for (const std::int64_t size : sizes) {
      value += static_cast<double>(size);
      exceeds = exceeds || size > total - whole;
      if (!exceeds) whole += size;
    }
  }
};

/// A time within which all units together can do a total, if each does as much as it can, and a shorter one in which
/// they cannot. The sizes are those of the least such time.
struct CommonTime {
  double time_s = 0.0;
  double before_s = 0.0;  ///< the largest time found that does not suffice
  Sizes units;            ///< largest sizes within `time_s`, together at least the total
  Sizes units_before;     ///< largest sizes within `before_s`, together less than the total
};

/// Solves x_1(T) + … + x_p(T) = total for T, where x_i(T) is the largest size, at most the total, with t_i(x_i) <= T:
/// 000, equation 2.1, with the sizes eliminated. Root finder: algorithm 748 of Alefeld, Potra and Shi, which keeps a
/// bracket. It ends where the sizes sum to the total, and that split has the least makespan; where the sum jumps past
/// the total, with two neighbouring numbers `before_s` and `time_s`, and no split has a makespan below `time_s` then.
/// @return nothing where `within_s` does not suffice
std::optional<CommonTime> solve_common_time(std::int64_t total, TimeProfiles profiles, double within_s) {
  const std::size_t count = profiles.size();
  CommonTime result;
  result.time_s = within_s;
  result.units_before.assign(count, 0);
  for (const TimeProfile* profile : profiles) {
    result.units.push_back(profile->largest_within(within_s, 0, std::min(profile->capacity(), total)));
  }
  const Sum most(result.units, total);
  if (!most.exceeds && most.whole < total) return std::nullopt;
  if (total == 0 || (!most.exceeds && most.whole == total)) return result;

  // How much the sizes within a time exceed the total. Each call lies between the nearest ones below and above, whose
  // sizes enclose its own.
  std::vector<std::int64_t> sizes(count);
  bool exact = false;
  const auto excess = [&](double time_s) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t least = result.units_before[i];
      sizes[i] = least < result.units[i] ? profiles[i]->largest_within(time_s, least, result.units[i]) : least;
    }
    const Sum sum(sizes, total);
    const bool suffices = sum.exceeds || sum.whole == total;
    (suffices ? result.time_s : result.before_s) = time_s;
    (suffices ? result.units : result.units_before).swap(sizes);
    exact = suffices && !sum.exceeds;
    if (exact) return 0.0;
    const double difference = sum.value - static_cast<double>(total);
    return suffices ? std::max(difference, 0.5) : std::min(difference, -0.5);
  };
  std::uintmax_t most_calls = 200;
  const auto neighbours = [](double low, double high) { return std::nextafter(low, high) >= high; };
  boost::math::tools::toms748_solve(excess, 0.0, within_s, -static_cast<double>(total),
                                    std::max(most.value - static_cast<double>(total), 0.5), neighbours, most_calls);
  while (!exact && !neighbours(result.before_s, result.time_s)) {
    excess(std::midpoint(result.before_s, result.time_s));
  }
  return result;
}

/// A split whose makespan is as small as that of solve_common_time() for the total, where sizes are found by repeating
/// it: where the sum of sizes jumps past the total, as many of the units that jump keep their sizes after the jump as
/// it takes, and the others solve for what is left, in less time. Nothing where too little is left for them.
/// @param least_s is set to the bound: no split is faster
std::optional<Sizes> split_by_common_times(std::int64_t total, TimeProfiles profiles, double within_s,
                                           double& least_s) {
  Sizes split(profiles.size(), 0);
  std::vector<std::size_t> index(profiles.size());
  std::iota(index.begin(), index.end(), std::size_t{0});
  std::vector<const TimeProfile*> others(profiles.begin(), profiles.end());
  std::int64_t left = total;
  for (bool first = true;; first = false) {
    const std::optional<CommonTime> solved = solve_common_time(left, others, within_s);
    if (!solved) return std::nullopt;
    if (first) least_s = solved->time_s;
    const Sum all(solved->units, left);
    if (!all.exceeds) {
      for (std::size_t i = 0; i < index.size(); ++i) split[index[i]] = solved->units[i];
      return split;
    }
    // Lower indices jump first, and only as many as are needed.
    std::int64_t missing = left - Sum(solved->units_before, left).whole;
    std::size_t staying = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t jump = solved->units[i] - solved->units_before[i];
      if (jump > 0 && missing > 0) {
        split[index[i]] = solved->units[i];
        if (solved->units[i] > left) return std::nullopt;
        left -= solved->units[i];
        missing -= jump;
      } else {
        split[index[i]] = solved->units_before[i];
        index[staying] = index[i];
        others[staying++] = others[i];
      }
    }
    if (missing == 0) return split;
    index.resize(staying);
    others.resize(staying);
    within_s = solved->before_s;
  }
}

/// How far the others have to reach for all sums up to the largest to exist.
std::int64_t widest_gap(const SizeRanges& ranges) {
  std::int64_t widest = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) widest = std::max(widest, ranges[i].first - ranges[i - 1].last - 1);
  return widest;
}

void keep_longest(SizeRanges& ranges, std::size_t most) {
  if (ranges.size() <= most) return;
  const auto shorter_later = [](const SizeRange& range) { return std::pair(range.first - range.last, range.first); };
  std::ranges::nth_element(ranges, ranges.begin() + static_cast<std::ptrdiff_t>(most), {}, shorter_later);
  ranges.resize(most);
  std::ranges::sort(ranges, {}, &SizeRange::first);
}

/// The largest size in `ranges` that leaves one of `sums` of the `total`; -1 where there is none.
std::int64_t largest_leaving(std::int64_t total, const SizeRanges& ranges, const SizeRanges& sums) {
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    for (const SizeRange& sum : sums) {
      if (sum.first > total) break;
      const std::int64_t size = std::min(range->last, total - sum.first);
      if (size >= range->first && total - size <= sum.last) return size;
    }
  }
  return -1;
}

/// All sums up to `most` of a size of the one and a size of the other.
SizeRanges sum_of(const SizeRanges& one, const SizeRanges& other, std::int64_t most) {
  SizeRanges all;
  all.reserve(one.size() * other.size());
  for (const SizeRange& a : one) {
    for (const SizeRange& b : other) {
      if (a.first > most - b.first) break;
      all.push_back({a.first + b.first, a.last > most - b.last ? most : a.last + b.last});
    }
  }
  std::ranges::sort(all, {}, &SizeRange::first);
  SizeRanges merged;
  for (const SizeRange& range : all) {
    if (!merged.empty() && range.first - 1 <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

/// One size of each unit that takes at most `time_s`, so that they sum to `total`; nothing where none was found. Units
/// without gaps, or only such as the others fill, cost next to nothing. For the rest, sums are kept as ranges: at most
/// `most_ranges` over all steps together, and where sums break up into more, the shortest ranges are let go. Only then
/// can a split that exists be missed.
std::optional<Sizes> split_within(double time_s, std::int64_t total, TimeProfiles profiles) {
  constexpr std::size_t most_ranges = std::size_t{1} << 20;
  std::vector<SizeRanges> ranges;  // each with 0 in its first range
  std::vector<std::int64_t> gaps;
  for (const TimeProfile* profile : profiles) {
    ranges.push_back(profile->sizes_within(time_s));
    gaps.push_back(widest_gap(ranges.back()));
  }
  std::vector<std::size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t unit) { return gaps[unit]; });

  // Of the first units. While no gap is wider than what the ones before it reach, their sums are all sizes up to the
  // sum of the largest.
  std::vector<SizeRanges> sums{{{0, 0}}};
  std::size_t filled = 0;
  for (; filled < order.size() && gaps[order[filled]] <= sums.back().back().last; ++filled) {
    const std::int64_t reach = sums.back().back().last;
    const std::int64_t largest = ranges[order[filled]].back().last;
    sums.push_back({{0, largest > total - reach ? total : reach + largest}});
  }
  const std::size_t most = std::max<std::size_t>(64, most_ranges / (order.size() - filled + 1));
  for (std::size_t i = filled; i < order.size() && sums.back().back().last < total; ++i) {
    sums.push_back(sum_of(sums.back(), ranges[order[i]], total));
    // The total is what all of this is for, however short its range.
    const SizeRange end = sums.back().back();
    keep_longest(sums.back(), most);
    if (end.last == total && sums.back().back() != end) sums.back().push_back(end);
  }
  if (sums.back().back().last < total) return std::nullopt;

  std::vector<std::int64_t> sizes(ranges.size(), 0);
  std::int64_t left = total;
  for (std::size_t i = sums.size() - 1; i > 0; --i) {
    const std::size_t unit = order[i - 1];
    sizes[unit] = largest_leaving(left, ranges[unit], sums[i - 1]);
    left -= sizes[unit];
  }
  return sizes;
}

/// Bisects between a bound below which there is no split and a time within which there should be one.
std::optional<Sizes> split_by_ranges(std::int64_t total, TimeProfiles profiles, double least_s, double within_s) {
  if (std::optional<Sizes> split = split_within(least_s, total, profiles)) return split;
  std::optional<Sizes> best = split_within(within_s, total, profiles);
  while (best) {
    const double middle_s = std::midpoint(least_s, within_s);
    if (!(middle_s > least_s && middle_s < within_s)) break;
    std::optional<Sizes> split = split_within(middle_s, total, profiles);
    (split ? within_s : least_s) = middle_s;
    if (split) best = std::move(split);
  }
  return best;
}

/// Whether geometric() could be faster: only where a model knows of a larger size in less time than its profile does.
bool may_be_beaten(double makespan_s, Models models, TimeProfiles profiles) {
  const double faster_s = std::nextafter(makespan_s, 0.0);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::int64_t most = profiles[i]->capacity();
    const double whole = std::floor(models[i]->units_within(faster_s));
    const std::int64_t size = whole >= static_cast<double>(most) ? most : static_cast<std::int64_t>(whole);
    if (profiles[i]->time_s(size) <= faster_s && size > profiles[i]->largest_within(faster_s, 0, most)) return true;
  }
  return false;
}

}  // namespace

Distribution numerical(std::int64_t total, Models models) {
  require_feasible(total, models);
  if (total == 0) return predict(Sizes(models.size(), 0), models);
  std::map<const models::SpeedModel*, TimeProfile> known;
  std::vector<const TimeProfile*> profiles;
  const std::int64_t even_share = even_slices(total, models.size()).front();
  double even_s = 0.0;
  double longest_s = 0.0;
  for (const models::SpeedModel* model : models) {
    const TimeProfile& profile = known.try_emplace(model, *model, total).first->second;
    profiles.push_back(&profile);
    even_s = std::max(even_s, profile.time_s(even_share));
    longest_s = std::max(longest_s, profile.longest_s());
  }
  // A time within which everything can be done: of the even split where it fits, else of the slowest size of all.
  double least_s = std::isfinite(even_s) ? even_s : longest_s;
  std::optional<Sizes> split = split_by_common_times(total, profiles, least_s, least_s);
  if (!split) split = split_by_ranges(total, profiles, least_s, longest_s);
  if (!split) {
    throw InvalidArgument(
        fmt::format("{} computation units cannot be split: no sum of sizes that take a finite time found", total));
  }
  Distribution result = predict(std::move(*split), models);
  if (may_be_beaten(result.makespan_s(), models, profiles)) {
    Distribution other = geometric(total, models);
    if (other.makespan_s() < result.makespan_s()) return other;
  }
  return result;
}

}  // namespace steelyard::partition
