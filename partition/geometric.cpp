#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

#include "core/base/errors.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::partition {
namespace {

/// Whole computation units that each model finishes within `time_s`. Returns their sum, or nothing if it exceeds
/// `total`.
std::optional<std::int64_t> slices_within(double time_s, std::int64_t total, Models models,
                                          std::vector<std::int64_t>& units) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const double whole = std::floor(models[i]->units_within(time_s));
    units[i] = whole >= static_cast<double>(total) ? total : static_cast<std::int64_t>(whole);
    if (units[i] > total - sum) return std::nullopt;
    sum += units[i];
  }
  return sum;
}

/// A makespan within which the units can do everything: that of an even split, or where that does not fit, of one unit
/// doing all that it holds.
double upper_bound_s(std::int64_t total, Models models) {
  const std::int64_t even_share = even_slices(total, models.size()).front();
  const auto holds_share = [&](const models::SpeedModel* model) { return capacity(*model, even_share) == even_share; };
  const bool even_fits = std::ranges::all_of(models, holds_share);
  double longest_s = 0.0;
  for (const models::SpeedModel* model : models) {
    const std::int64_t units = even_fits ? even_share : capacity(*model, total);
    longest_s = std::max(longest_s, model->time_s(static_cast<double>(units)));
  }
  return longest_s;
}

/// Hands out what rounding left over, one computation unit at a time, always to the processing unit that would be done
/// first with it; ties go to the lower index.
void distribute_remainder(std::int64_t remainder, std::vector<std::int64_t>& units, Models models) {
  using Offer = std::pair<double, std::size_t>;  // seconds with one more, and index
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  const auto offer = [&](std::size_t index) {
    const auto next = static_cast<double>(units[index] + 1);
    if (models[index]->fits(next)) offers.emplace(models[index]->time_s(next), index);
  };
  for (std::size_t i = 0; i < units.size(); ++i) offer(i);
  for (; remainder > 0; --remainder) {
    const std::size_t index = offers.top().second;
    offers.pop();
    ++units[index];
    offer(index);
  }
}

}  // namespace

Distribution geometric(std::int64_t total, Models models) {
  require_feasible(total, models);
  std::vector<std::int64_t> units(models.size(), 0);
  if (total == 0) return predict(std::move(units), models);

  double upper_s = upper_bound_s(total, models);
  double lower_s = 0.0;
  std::vector<std::int64_t> candidate(models.size());
  if (!std::isfinite(upper_s)) {
    upper_s = std::numeric_limits<double>::max();
    if (slices_within(upper_s, total, models, candidate).value_or(total) < total) {
      throw InvalidArgument(fmt::format("{} computation units take longer than a number can hold", total));
    }
  }
  // Some 2000 times at most, where speeds are as far apart as numbers can be.
  while (true) {
    const double middle_s = std::midpoint(lower_s, upper_s);
    if (!(middle_s > lower_s && middle_s < upper_s)) break;
    const std::optional<std::int64_t> sum = slices_within(middle_s, total, models, candidate);
    if (!sum) {
      upper_s = middle_s;
      continue;
    }
    lower_s = middle_s;
    units = candidate;
    // What is left is handed out one by one, always to who is done first, which keeps the makespan least.
    if (total - *sum <= std::ssize(models)) break;
  }
  distribute_remainder(total - std::accumulate(units.begin(), units.end(), std::int64_t{0}), units, models);
  return predict(std::move(units), models);
}

}  // namespace steelyard::partition
