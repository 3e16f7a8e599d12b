#include "partition/time_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/errors.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {
namespace {

constexpr int parts = 8;

/// Whole sizes around every breakpoint, and both ends.
std::set<std::int64_t> ends_of_gaps(const models::SpeedModel& model, std::int64_t capacity) {
  std::set<std::int64_t> ends{0, std::min<std::int64_t>(1, capacity), capacity};
  for (const double breakpoint : model.breakpoints()) {
    const double whole = std::floor(breakpoint);
    if (!(whole < static_cast<double>(capacity))) break;
    const auto size = static_cast<std::int64_t>(whole);
    // A table answers at its points only, so the sizes on both sides of a point count as much.
    for (const std::int64_t near : {size - 1, size, size + 1}) ends.insert(std::clamp<std::int64_t>(near, 0, capacity));
  }
  return ends;
}

/// Whether the cubic through two ends, with what it rises over the whole, at the pace of its first and of its last
/// stretch, turns in between.
bool turns(double rise, double first_pace, double last_pace) {
  // Its derivative, times the sign of the rise: first_pace + linear u + square u^2 for 0 < u < 1.
  const double sign = rise < 0.0 ? -1.0 : 1.0;
  const double start = sign * first_pace;
  const double end = sign * last_pace;
  if (start < 0.0 || end < 0.0) return true;
  const double square = 3.0 * (start + end - 2.0 * sign * rise);
  const double linear = 2.0 * (3.0 * sign * rise - 2.0 * start - end);
  return square > 0.0 && linear < 0.0 && -linear < 2.0 * square && linear * linear > 4.0 * square * start;
}

}  // namespace

TimeProfile::TimeProfile(const models::SpeedModel& model, std::int64_t total) : model_(&model) {
  if (model.is_known_to_grow()) {
    turns_ = {at(0), at(partition::capacity(model, total))};
    return;
  }
  std::vector<Turn> samples{at(0)};
  std::int64_t first = 0;
  for (const std::int64_t end : ends_of_gaps(model, partition::capacity(model, total))) {
    const std::int64_t gap = end - first;
    for (int part = 1; part <= parts; ++part) {
      const std::int64_t size = first + gap / parts * part + gap % parts * part / parts;
      if (size > samples.back().units) look(samples, at(size));
    }
    first = end;
  }
  const auto direction = [&](std::size_t i) {
    return (samples[i].time_s > samples[i - 1].time_s ? 1 : 0) - (samples[i].time_s < samples[i - 1].time_s ? 1 : 0);
  };
  turns_.push_back(samples.front());
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (!(samples[i].time_s >= 0.0)) {
      throw InvalidArgument(fmt::format("speed model takes {} s for {} units (expected a time >= 0)", samples[i].time_s,
                                        samples[i].units));
    }
    const bool is_last = i + 1 == samples.size();
    if (is_last || (direction(i + 1) != 0 && direction(i + 1) != direction(i))) turns_.push_back(samples[i]);
  }
}

/// Appends the sizes to look at up to `right`: down to neighbours where time seems to turn.
void TimeProfile::look(std::vector<Turn>& samples, Turn right) const {
  const Turn left = samples.back();
  const std::int64_t gap = right.units - left.units;
  if (gap > 1) {
    const std::int64_t stretch = std::max<std::int64_t>(1, gap / 16);
    const Turn first = at(left.units + stretch);
    const Turn last = at(right.units - stretch);
    const double scale = static_cast<double>(gap) / static_cast<double>(stretch);
    const auto finite = std::isfinite(left.time_s) + std::isfinite(first.time_s) + std::isfinite(last.time_s) +
                        std::isfinite(right.time_s);
    const bool suspicious = finite == 4 ? turns(right.time_s - left.time_s, scale * (first.time_s - left.time_s),
                                                scale * (right.time_s - last.time_s))
                                        : finite > 0;
    // Sizes so near that only rounding tells their times apart are not worth it.
    constexpr std::int64_t nearest = std::int64_t{1} << 36;
    if (suspicious && gap > 3 && gap > right.units / nearest) {
      look(samples, at(left.units + gap / 2));
      look(samples, right);
      return;
    }
    samples.push_back(first);
    if (last.units > first.units) samples.push_back(last);
  }
  samples.push_back(right);
}

double TimeProfile::longest_s() const {
  double longest = 0.0;
  for (const Turn& turn : turns_) {
    if (std::isfinite(turn.time_s)) longest = std::max(longest, turn.time_s);
  }
  return longest;
}

/// Between neighbouring turns or parts of what lies between, in either direction: false position, where an end that
/// stays counts half (Illinois), and every fourth step a bisection, since time may jump.
std::int64_t TimeProfile::last_within(double time_s, Turn within, Turn beyond) const {
  double below = within.time_s - time_s;
  double above = beyond.time_s - time_s;
  for (int step = 1; std::abs(beyond.units - within.units) > 1; ++step) {
    const std::int64_t gap = beyond.units - within.units;
    double share = below / (below - above);
    if (step % 4 == 0 || !std::isfinite(above) || !(share >= 0.0 && share <= 1.0)) share = 0.5;
    std::int64_t move = static_cast<std::int64_t>(std::llround(share * static_cast<double>(gap)));
    move = gap > 0 ? std::clamp<std::int64_t>(move, 1, gap - 1) : std::clamp<std::int64_t>(move, gap + 1, -1);
    const Turn probe = at(within.units + move);
    if (probe.time_s <= time_s) {
      within = probe;
      below = probe.time_s - time_s;
      above *= 0.5;
    } else {
      beyond = probe;
      above = probe.time_s - time_s;
      below *= 0.5;
    }
  }
  return within.units;
}

std::int64_t TimeProfile::largest_within(double time_s, std::int64_t known, std::int64_t limit) const {
  if (model_->is_known_to_grow()) {
    const double most = std::min(model_->units_within(time_s), static_cast<double>(limit));
    return std::max(known, static_cast<std::int64_t>(most));
  }
  Turn right = at(limit);
  if (right.time_s <= time_s) return limit;
  auto turn = std::ranges::lower_bound(turns_, limit, {}, &Turn::units);
  while (turn != turns_.begin() && (--turn)->units > known) {
    if (turn->time_s <= time_s) return last_within(time_s, *turn, right);
    right = *turn;
  }
  return known < right.units ? last_within(time_s, at(known), right) : known;
}

SizeRanges TimeProfile::sizes_within(double time_s) const {
  SizeRanges ranges{{0, 0}};
  const auto add = [&](std::int64_t first, std::int64_t last) {
    if (first <= ranges.back().last + 1) {
      ranges.back().last = std::max(ranges.back().last, last);
    } else {
      ranges.push_back({first, last});
    }
  };
  for (std::size_t i = 1; i < turns_.size(); ++i) {
    const Turn& left = turns_[i - 1];
    const Turn& right = turns_[i];
    const bool left_within = left.time_s <= time_s;
    const bool right_within = right.time_s <= time_s;
    if (left_within && right_within) {
      add(left.units, right.units);
    } else if (left_within) {
      add(left.units, last_within(time_s, left, right));
    } else if (right_within) {
      add(last_within(time_s, right, left), right.units);
    }
  }
  return ranges;
}

}  // namespace steelyard::partition
