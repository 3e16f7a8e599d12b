#include "partition/common_time.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numeric>

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

}  // namespace steelyard::partition
