#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/measured_point.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Compares times beside their measured spread. A time is known within its confidence interval; one whose
/// interval was not measured (half width 0) is believed as it is. Points without work (0 units) do not count.

/// True when the interval of `a` lies above that of `b`: t_a - c_a > t_b + c_b.
bool clearly_longer(const models::MeasuredPoint& a, const models::MeasuredPoint& b);

/// By how many seconds some two of the units differ whatever the spread: max_i (t_i - c_i) - min_i (t_i + c_i),
/// negative where all intervals overlap; 0 with fewer than two units at work.
double clear_difference_s(std::span<const models::MeasuredPoint> points);

/// (longest - shortest) / longest of the times; 0 with fewer than two units at work.
double measured_imbalance(std::span<const models::MeasuredPoint> points);

/// The point that takes longest: when the last unit is done. All zeros where no unit has work.
models::MeasuredPoint last_done(std::span<const models::MeasuredPoint> points);

/// The mean of the seconds of several runs of one size, with Student's 95 % interval; a single run is believed as it
/// is. Source: 000, section 6.1.2 (fupermod_ci). @throws InvalidArgument for no runs
models::MeasuredPoint point_of_sample(std::int64_t units, std::span<const double> times_s);

/// Runs every unit's kernel on its slice, all units at the same time: one point per unit, of as many computation units
/// as asked for. What is returned for a unit without work does not count.
using Measure = std::function<std::vector<models::MeasuredPoint>(std::span<const std::int64_t> units)>;

/// Why balancing ended.
enum class StopReason {
  balanced,           ///< all units with work take equally long, within eps
  settled,            ///< the next distribution is the current one, within eps; a search's bracket is closed
  within_spread,      ///< what could be gained is less than the spread of the measurements
  no_improvement,     ///< no step from the best distribution turned out faster
  single_step,        ///< the method takes one step, and took it
  measurement_limit,  ///< measured as often as allowed
};

/// In words, for a table or a message.
std::string to_string(StopReason reason);

/// Result of balancing.
struct Outcome {
  Distribution distribution;  ///< predictions are what was measured of it
  StopReason reason = StopReason::balanced;
  int measurements = 0;  ///< of all units at the same time
};

/// How often to measure.
struct Repetition {
  int most_rounds = 5;          ///< of a distribution whose comparison is within the spread
  int most_measurements = 100;  ///< of all distributions together
};

/// Measures distributions again and again, and remembers: what several rounds say together, see models::merge_rounds().
class RepeatedMeasurement {
 public:
  using Units = std::vector<std::int64_t>;
  using Points = std::vector<models::MeasuredPoint>;

  /// @throws InvalidArgument unless both numbers are at least 1
  RepeatedMeasurement(Measure measure, const Repetition& repetition);

  /// All rounds of a distribution together; at least one. @throws InvalidArgument for another number of points than
  /// units, a point of another size, and for units with work without a finite time > 0 and an interval >= 0
  const Points& of(const Units& units);
  /// Forgets the rounds of a distribution and measures anew, unless no measurements are left; says whether it did.
  bool afresh(const Units& units);
  /// Measures until some two units clearly differ; false where that is within the spread after all rounds.
  bool differ(const Units& units);
  /// Measures until one distribution's last unit is clearly done before the other's: negative where that of `a` is,
  /// positive where that of `b` is, 0 where that is within the spread after all rounds.
  int compare(const Units& a, const Units& b);
  int left() const { return std::max(0, repetition_.most_measurements - count_); }
  bool exhausted() const { return left() == 0; }
  bool known(const Units& units) const { return places_.contains(units); }
  /// Balancing ends with a distribution, as measured.
  Outcome outcome(const Units& units, StopReason reason);

 private:
  struct Place {
    std::vector<Points> rounds;
    Points merged;
  };
  void measure_once(const Units& units, Place& place);
  /// One more round, unless it had as many as allowed or no measurements are left; says whether there was one.
  bool again(const Units& units);

  Measure measure_;
  Repetition repetition_;
  std::map<Units, Place> places_;
  int count_ = 0;
};

}  // namespace steelyard::partition
