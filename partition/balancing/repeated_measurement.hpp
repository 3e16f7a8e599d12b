#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "partition/balancing/outcome.hpp"

namespace steelyard::partition {

/// How often to measure.
struct Repetition {
  int least_rounds = 1;  ///< of a distribution, before its times are compared; 3 where `measure` gives single runs
  int most_rounds = 5;   ///< of a distribution whose comparison is within the spread
  int most_measurements = 100;  ///< of all distributions together
  double level = 0.95;          ///< of the confidence intervals of several rounds
};

/// @throws InvalidArgument unless 1 <= least_rounds <= most_rounds, most_measurements >= 1 and 0 < level < 1
void require_repetition(const Repetition& repetition);

/// Measures distributions again and again, and remembers: what several rounds say together, see models::merge_rounds().
class RepeatedMeasurement {
 public:
  using Units = std::vector<std::int64_t>;
  using Points = std::vector<models::MeasuredPoint>;

  RepeatedMeasurement(Measure measure, const Repetition& repetition);

  /// At least `least_rounds` of a distribution together, as far as measurements are left; remembered ones count.
  const Points& of(const Units& units);
  /// One more round of it, unless it had as many as allowed or no measurements are left; says whether there was one.
  bool again(const Units& units);
  /// Forgets the rounds of a distribution and measures anew, unless no measurements are left; says whether it did.
  bool afresh(const Units& units);
  /// Measures until some two units clearly differ; false where that is within the spread after all rounds.
  bool differ(const Units& units);
  /// Measures until one distribution's last unit is clearly done before the other's: negative where that of `a` is,
  /// positive where that of `b` is, 0 where that is within the spread after all rounds.
  int compare(const Units& a, const Units& b);
  /// Measured so far.
  int count() const { return count_; }
  int left() const { return std::max(0, repetition_.most_measurements - count_); }
  bool exhausted() const { return left() == 0; }
  bool known(const Units& units) const { return places_.contains(units); }

 private:
  struct Place {
    std::vector<Points> rounds;
    Points merged;
  };
  void measure_once(const Units& units, Place& place);

  Measure measure_;
  Repetition repetition_;
  std::map<Units, Place> places_;
  int count_ = 0;
};

/// Checks what a measurement of `units` returned. @throws InvalidArgument for another number of points, a point of
/// another size, and for units with work without a finite time > 0 and an interval >= 0
void require_measured(std::span<const std::int64_t> units, std::span<const models::MeasuredPoint> points);

}  // namespace steelyard::partition
