#include "partition/balancing/load_balancer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

namespace {

constexpr std::int64_t probe_divisor = 16;  ///< a probe is the even share over this
constexpr double nearest = 0.05;            ///< share of a size within which points may crowd out each other
constexpr std::size_t most_points = 8;      ///< of a unit
constexpr int settling = 1;                 ///< iterations after a new distribution that do not count: cold caches
/// Windows after which a unit without work gets a probe, if worth it; doubles with every one.
constexpr int idle_windows = 20;

/// The mean of the seconds of several runs of one size, with Student's interval; a single run is believed as it is.
/// Source: 000, section 6.1.2 (fupermod_ci).
MeasuredPoint point_of_sample(std::int64_t units, std::span<const double> times_s) {
  MeasuredPoint point{static_cast<double>(units), mean(times_s), static_cast<int>(times_s.size()), 0.0,
                      count_outliers(times_s)};
  if (times_s.size() > 1) point.confidence_s = confidence_half_width(times_s, confidence_level);
  return point;
}

/// Whether the distance of two sizes is less than what the intervals of their times leave open.
bool indistinct(const MeasuredPoint& a, const MeasuredPoint& b) {
  const double open_share = std::min(nearest, a.confidence_s / a.time_s + b.confidence_s / b.time_s);
  return std::abs(a.units - b.units) < open_share * std::max(a.units, b.units);
}

/// Whether more work took no longer.
bool contradict(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.units < b.units ? a.time_s >= b.time_s : a.time_s <= b.time_s;
}

bool encloses(const MeasuredPoint& wide, const MeasuredPoint& narrow) {
  return wide.confidence_s > narrow.confidence_s &&
         std::abs(wide.time_s - narrow.time_s) <= wide.confidence_s - narrow.confidence_s;
}

}  // namespace

PartialModels::PartialModels(std::size_t unit_count, Algorithm algorithm)
    : algorithm_(std::move(algorithm)), entries_(unit_count) {
  models::find_model_kind(algorithm_.model_kind);
  if (unit_count == 0) throw InvalidArgument("no processing units to balance (expected at least one)");
}

void PartialModels::renew(std::size_t unit, const MeasuredPoint& point) {
  std::vector<Entry>& known = entries_[unit];
  const auto same = std::ranges::find(known, point.units, [](const Entry& entry) { return entry.point.units; });
  const bool changed =
      same != known.end() && (clearly_longer(same->point, point) || clearly_longer(point, same->point));
  if (same != known.end() && !changed && encloses(point, same->point)) {
    same->age = ++clock_;
    return;
  }
  std::erase_if(known, [&](const Entry& entry) {
    return changed || entry.point.units == point.units || contradict(entry.point, point) ||
           indistinct(entry.point, point);
  });
  known.push_back({point, ++clock_});
  if (known.size() > most_points) known.erase(std::ranges::min_element(known, {}, &Entry::age));
  std::ranges::sort(known, {}, [](const Entry& entry) { return entry.point.units; });
}

std::ptrdiff_t PartialModels::unknown() const { return std::ranges::count_if(entries_, std::ranges::empty); }

models::SpeedModelPtr PartialModels::model(std::size_t unit) const {
  std::vector<MeasuredPoint> points;
  for (const Entry& entry : entries_[unit]) points.push_back(entry.point);
  return models::find_model_kind(algorithm_.model_kind).build(points, models::no_limit, {});
}

Distribution PartialModels::predict(std::vector<std::int64_t> units) const {
  Distribution distribution{std::move(units), {}};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::int64_t slice = distribution.units[i];
    const double unknown_s = slice == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    distribution.predicted_s.push_back(entries_[i].empty() ? unknown_s : model(i)->time_s(static_cast<double>(slice)));
  }
  return distribution;
}

bool PartialModels::doubtful_below(std::size_t unit, std::int64_t slice) const {
  const std::vector<Entry>& known = entries_[unit];
  if (known.empty()) return false;
  const MeasuredPoint& smallest = known[0].point;
  if (smallest.units < 2.0 || static_cast<double>(slice) >= smallest.units) return false;
  if (slice == 0 || known.size() < 2) return slice == 0;
  const double size_ratio = smallest.units / known[1].point.units;
  const double time_ratio = smallest.time_s / known[1].point.time_s;
  return 1.0 - time_ratio < 0.5 * (1.0 - size_ratio);
}

std::optional<std::vector<std::int64_t>> PartialModels::distribute_rest(std::int64_t total,
                                                                        const std::vector<std::int64_t>& fixed) const {
  std::vector<models::SpeedModelPtr> owned;
  std::vector<const models::SpeedModel*> free(fixed.size(), nullptr);
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i] < 0) {
      free[i] = owned.emplace_back(model(i)).get();
    } else {
      total -= fixed[i];
    }
  }
  if (owned.empty()) return std::nullopt;
  std::vector<std::int64_t> units = distribute_among(total, free, algorithm_.distribute).units;
  for (std::size_t i = 0; i < fixed.size(); ++i) units[i] = std::max(units[i], fixed[i]);
  return units;
}

std::vector<std::int64_t> PartialModels::distribute(std::int64_t total, std::int64_t probe) const {
  std::vector<std::int64_t> fixed;
  std::int64_t left = total;
  for (const std::vector<Entry>& known : entries_) {
    fixed.push_back(known.empty() ? std::min(left, probe) : -1);
    left -= std::max<std::int64_t>(0, fixed.back());
  }
  std::vector<std::int64_t> units = distribute_rest(total, fixed).value();
  if (probe == 0) return units;
  for (std::size_t i = 0; i < fixed.size() && left > 0; ++i) {
    if (fixed[i] >= 0 || !doubtful_below(i, units[i])) continue;
    fixed[i] = 1;
    --left;
  }
  return distribute_rest(total, fixed).value_or(units);
}

namespace {

/// @throws InvalidArgument unless `start`, where it is not empty, distributes the total over the units
std::vector<std::int64_t> start_or_even(std::int64_t total, std::size_t unit_count, std::vector<std::int64_t> start) {
  if (start.empty()) return even_slices(total, unit_count);
  if (start.size() == unit_count && std::ranges::all_of(start, [](std::int64_t slice) { return slice >= 0; }) &&
      std::accumulate(start.begin(), start.end(), std::int64_t{0}) == total) {
    return start;
  }
  throw InvalidArgument(
      fmt::format("the start is no distribution of {} computation units over {} processing units", total, unit_count));
}

}  // namespace

LoadBalancer::LoadBalancer(std::int64_t total, std::size_t unit_count, const Algorithm& algorithm,
                           LoadBalancerOptions options)
    : total_(total),
      options_(std::move(options)),
      models_(unit_count, algorithm),
      current_(models_.predict(start_or_even(total, unit_count, options_.start))),
      samples_(unit_count),
      idle_(unit_count, 0),
      patience_(unit_count, idle_windows) {
  if (options_.window < 1 || !(options_.eps >= 0.0 && options_.redistribution_s >= 0.0)) {
    throw InvalidArgument(
        fmt::format("window of {} iterations, eps {}, redistribution {} s (expected >= 1, >= 0 and >= 0)",
                    options_.window, options_.eps, options_.redistribution_s));
  }
}

BalancingDecision LoadBalancer::record(std::span<const double> time_s, double remaining_iterations) {
  if (time_s.size() != samples_.size()) {
    throw InvalidArgument(
        fmt::format("{} times of {} processing units (expected one each)", time_s.size(), samples_.size()));
  }
  if (!(remaining_iterations >= 0.0)) {
    throw InvalidArgument(fmt::format("{} iterations to come (expected a number >= 0)", remaining_iterations));
  }
  for (std::size_t i = 0; i < time_s.size(); ++i) {
    if (current_.units[i] > 0 && !(time_s[i] > 0.0 && std::isfinite(time_s[i]))) {
      throw InvalidArgument(fmt::format("unit {} took {} s (expected a finite time > 0)", i, time_s[i]));
    }
  }
  if (total_ == 0) return BalancingDecision::balanced;
  if (skip_ > 0) {
    --skip_;
    return BalancingDecision::measuring;
  }
  for (std::size_t i = 0; i < time_s.size(); ++i) samples_[i].push_back(time_s[i]);
  if (std::ssize(samples_.front()) < options_.window) return BalancingDecision::measuring;

  std::vector<MeasuredPoint> points(time_s.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (current_.units[i] > 0) {
      points[i] = point_of_sample(current_.units[i], samples_[i]);
      models_.renew(i, points[i]);
      idle_[i] = 0;
    } else if (++idle_[i] >= patience_[i]) {
      // What was known of it is old; but one that is left out again and again is asked less and less often.
      models_.forget(i);
      idle_[i] = 0;
      patience_[i] = std::min(2 * patience_[i], 1 << 20);
    }
    samples_[i].clear();
  }
  return decide(points, remaining_iterations);
}

BalancingDecision LoadBalancer::decide(std::span<const MeasuredPoint> points, double remaining_iterations) {
  const MeasuredPoint last = last_done(points);
  // At best unknown units are as fast as the others, and then the data moves twice: for the probe and for the result.
  const double probe_gain_s = last.time_s * static_cast<double>(models_.unknown()) / static_cast<double>(points.size());
  if (models_.unknown() > 0 && probe_gain_s * remaining_iterations > 2.0 * options_.redistribution_s) {
    const std::int64_t even_share = total_ / std::ssize(points);
    return adopt(models_.distribute(total_, std::max<std::int64_t>(1, even_share / probe_divisor)));
  }
  Distribution measured{current_.units, {}};
  for (const MeasuredPoint& point : points) measured.predicted_s.push_back(point.time_s);
  if (measured.imbalance() <= options_.eps && std::ranges::count(current_.units, 0) == 0) {
    return BalancingDecision::balanced;
  }
  if (!clearly_differ(points) && std::ranges::count(current_.units, total_) == 0) {
    return BalancingDecision::within_spread;
  }
  std::vector<std::int64_t> next = models_.distribute(total_, 0);
  if (next == current_.units) return BalancingDecision::settled;
  const double gain_s = last.time_s - last.confidence_s - models_.predict(next).makespan_s();
  if (!(gain_s > 0.0)) return BalancingDecision::settled;
  if (!(gain_s * remaining_iterations > options_.redistribution_s)) return BalancingDecision::not_worth_it;
  return adopt(std::move(next));
}

BalancingDecision LoadBalancer::adopt(std::vector<std::int64_t> next) {
  current_ = models_.predict(std::move(next));
  skip_ = settling;
  ++repartitions_;
  return BalancingDecision::repartitioned;
}

}  // namespace steelyard::partition
