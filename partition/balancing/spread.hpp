#pragma once

#include <span>
#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::partition {

// Times beside their measured spread. A time is known within its confidence interval; one whose interval was not
// measured (half width 0) is believed as it is. Points without work (0 units) do not count.

/// Level of all confidence intervals.
constexpr double confidence_level = 0.95;

/// True when the interval of `a` lies above that of `b`: t_a - c_a > t_b + c_b.
bool clearly_longer(const models::MeasuredPoint& a, const models::MeasuredPoint& b);

/// Whether some two of the units differ whatever the spread: max_i (t_i - c_i) > min_i (t_i + c_i).
bool clearly_differ(std::span<const models::MeasuredPoint> points);

/// The point that takes longest: when the last unit is done. All zeros where no unit has work.
models::MeasuredPoint last_done(std::span<const models::MeasuredPoint> points);

/// One point of several rounds as models::merge_rounds(), of which some may be single runs with an infinite interval:
/// several of them tell their spread together.
models::MeasuredPoint merge_measured(std::vector<models::MeasuredPoint> rounds);

}  // namespace steelyard::partition
