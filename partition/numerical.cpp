#include "partition/numerical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/geometric.hpp"
#include "partition/search/range_sums.hpp"

namespace steelyard::partition {

namespace {

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

}  // namespace

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

std::optional<std::vector<std::int64_t>> split_by_common_times(std::int64_t total, TimeProfiles profiles,
                                                               double within_s, double& least_s) {
  std::vector<std::int64_t> split(profiles.size(), 0);
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
    std::vector<std::size_t> stay;
    std::vector<const TimeProfile*> staying;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t jump = solved->units[i] - solved->units_before[i];
      if (jump > 0 && missing > 0) {
        split[index[i]] = solved->units[i];
        if (solved->units[i] > left) return std::nullopt;
        left -= solved->units[i];
        missing -= jump;
      } else {
        split[index[i]] = solved->units_before[i];
        stay.push_back(index[i]);
        staying.push_back(others[i]);
      }
    }
    if (missing == 0) return split;
    index = std::move(stay);
    others = std::move(staying);
    within_s = solved->before_s;
  }
}

namespace {

using Sizes = std::vector<std::int64_t>;

std::optional<Sizes> split_within(double time_s, std::int64_t total, TimeProfiles profiles) {
  std::vector<SizeRanges> ranges;
  ranges.reserve(profiles.size());
  for (const TimeProfile* profile : profiles) ranges.push_back(profile->sizes_within(time_s));
  return split_in_ranges(total, ranges);
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

/// A time within which everything can be done: of the even split where it fits, else of the slowest size of all.
double sufficient_time_s(std::int64_t total, TimeProfiles profiles) {
  const auto count = static_cast<std::int64_t>(profiles.size());
  const std::int64_t share = total / count + (total % count > 0 ? 1 : 0);
  double even_s = 0.0;
  double longest_s = 0.0;
  for (const TimeProfile* profile : profiles) {
    even_s = std::max(even_s, profile->time_s(share));
    longest_s = std::max(longest_s, profile->longest_s());
  }
  return std::isfinite(even_s) ? even_s : longest_s;
}

}  // namespace

Distribution numerical(std::int64_t total, Models models) {
  require_feasible(total, models);
  if (total == 0) return predict(Sizes(models.size(), 0), models);
  std::map<const models::SpeedModel*, const TimeProfile*> known;
  std::deque<TimeProfile> owned;
  std::vector<const TimeProfile*> profiles;
  for (const models::SpeedModel* model : models) {
    const TimeProfile*& profile = known[model];
    if (profile == nullptr) profile = &owned.emplace_back(*model, total);
    profiles.push_back(profile);
  }
  double longest_s = 0.0;
  for (const TimeProfile* profile : profiles) longest_s = std::max(longest_s, profile->longest_s());

  double least_s = sufficient_time_s(total, profiles);
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
