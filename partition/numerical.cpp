#include "partition/numerical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/common_time.hpp"
#include "partition/geometric.hpp"
#include "partition/search/range_sums.hpp"

namespace steelyard::partition {
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
