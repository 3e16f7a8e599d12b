#include "partition/balancing/iteration_time_search.hpp"

#include <algorithm>
#include <utility>

#include "partition/balancing/spread.hpp"

namespace steelyard::partition {
namespace {

class IterationTimeSearch {
 public:
  IterationTimeSearch(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options)
      : total_(total),
        range_(search_range(total, options)),
        resolution_(options.resolution),
        measurement_(
            [&measure](std::span<const std::int64_t> units) {
              const models::MeasuredPoint iteration = measure(units);
              std::vector<models::MeasuredPoint> points(units.size(), iteration);
              for (std::size_t i = 0; i < units.size(); ++i) points[i].units = static_cast<double>(units[i]);
              return points;
            },
            options.repetition) {}

  Outcome run() {
    if (total_ == 0) return {{{0, 0}, {0.0, 0.0}}, StopReason::balanced, 0};
    visit(range_.even);
    std::int64_t lower = range_.least;
    std::int64_t upper = range_.most;
    while (upper - lower > std::max<std::int64_t>(2, resolution_)) {
      if (measurement_.left() < 2) return fastest(StopReason::measurement_limit);
      const std::int64_t third = (upper - lower) / 3;
      const std::int64_t left = lower + third;
      const std::int64_t right = upper - third;
      const int comparison = compare(left, right);
      if (comparison > 0) {
        lower = left + 1;
      } else if (comparison < 0) {
        upper = right - 1;
      } else if (same(left, right) || dips_between(left, right)) {
        lower = left;
        upper = right;
      } else {
        return fastest(measurement_.exhausted() ? StopReason::measurement_limit : StopReason::within_spread);
      }
    }
    const std::int64_t step = std::max<std::int64_t>(1, (upper - lower) / 2);
    for (std::int64_t first = lower; first <= upper; first += step) {
      if (!measurement_.known(line(first)) && measurement_.exhausted()) return fastest(StopReason::measurement_limit);
      visit(first);
    }
    return fastest(StopReason::settled);
  }

 private:
  RepeatedMeasurement::Units line(std::int64_t first) const { return {first, total_ - first}; }

  models::MeasuredPoint visit(std::int64_t first) {
    if (std::ranges::find(visited_, first) == visited_.end()) visited_.push_back(first);
    return last_done(measurement_.of(line(first)));
  }

  int compare(std::int64_t a, std::int64_t b) {
    visit(a);
    visit(b);
    return measurement_.compare(line(a), line(b));
  }

  /// Without any spread, a unimodal time that is the same at two lines has its minimum between them.
  bool same(std::int64_t left, std::int64_t right) {
    return visit(left).confidence_s == 0.0 && visit(right).confidence_s == 0.0;
  }

  bool dips_between(std::int64_t left, std::int64_t right) {
    const std::int64_t middle = left + (right - left) / 2;
    if (middle == left || measurement_.exhausted()) return false;
    return compare(middle, left) < 0 || compare(middle, right) < 0;
  }

  std::int64_t fastest_visited() {
    return *std::ranges::min_element(visited_, {}, [&](std::int64_t place) { return visit(place).time_s; });
  }

  Outcome fastest(StopReason reason) {
    // The least of many uncertain times is likely to be a lucky one: those that may be as fast are measured again.
    const std::int64_t lucky = fastest_visited();
    for (const std::int64_t place : visited_) {
      if (place != lucky) measurement_.compare(line(place), line(lucky));
    }
    const std::int64_t first = fastest_visited();
    Distribution distribution{line(first), {}};
    for (const auto& point : measurement_.of(line(first))) distribution.predicted_s.push_back(point.time_s);
    return {std::move(distribution), reason, measurement_.count()};
  }

  std::int64_t total_;
  SearchRange range_;
  std::int64_t resolution_;
  RepeatedMeasurement measurement_;
  std::vector<std::int64_t> visited_;
};

}  // namespace

Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options) {
  return IterationTimeSearch(total, measure, options).run();
}

}  // namespace steelyard::partition
