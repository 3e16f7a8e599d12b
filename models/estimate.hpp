#pragma once

#include <span>

#include "core/base/statistics.hpp"
#include "models/fpm_file.hpp"

namespace steelyard::models {

/// Seconds that something is predicted to take, with the half widths of a 90 % interval. Errors of one unit's model
/// (its shape between points, the noise of their means) have nothing to do with those of another phase and add in
/// quadrature; those by the speed at which the machine runs at the moment, the same for all phases of a run, add as
/// they are. With phases i
///
///   T = sum t_i,  h = sqrt(sum own_i^2 + (sum shared_i)^2).
struct Estimate {
  double time_s = 0.0;
  double own_s = 0.0;     ///< half width of errors that no other phase has
  double shared_s = 0.0;  ///< half width of errors that all phases have in common

  double half_width_s() const;
  /// From t / (1 + h / t) to t (1 + h / t): speeds change by factors, and no time is negative.
  Interval interval() const;
};

/// The level of all these intervals.
inline constexpr double interval_level = 0.90;

/// Standard deviation of the ratio of a run's median and that of the same run some minutes later, which the rounds of
/// the main job show on two shared cores: 1 to 6 % for gemm, summa, wave2d and fft2d, for cavity and jacobi more.
inline constexpr double later_drift = 0.04;

/// Estimate of two phases, one after the other.
Estimate operator+(const Estimate& a, const Estimate& b);
/// Estimate of phases at the same time, which end with the longest; half widths reach as far as those of any of them.
Estimate longest(std::span<const Estimate> estimates);

/// A run of `time_s`, of which exchanges take `exchange_s`; in the rest units work at the same time. How fast messages
/// are depends on the moment too, see Channel::error.
Estimate run_estimate(std::span<const Estimate> units, double time_s, double exchange_s, double channel_error);

/// A model's prediction of `time_s` for `units` computation units.
///
/// Shared: between rounds of measuring, times differ with the standard deviation s (FpmFile::drift). A run is one more
/// round beside the n of which points are the mean: half of the interval is t_{0.95} sqrt(1 + 1/n) s, with Student's t
/// for the degrees of freedom of s (Hahn and Meeker, Statistical Intervals, chapter 4). Without rounds there is the
/// noise of a point's mean as its interval says, in the run and in the model, which is own. Rounds of seconds do not
/// show what changes within minutes: z_{0.95} later_drift adds in quadrature, save for points that say nothing of their
/// spread, which count as exact.
///
/// Own: between points p_i and p_(i+1), how far the nearer inner points lie from the lines through their neighbours
/// (leave one out), a line's error being proportional to the product of the distances from its ends (000, section
/// 6.1.3 for the lines):
///
///   f(x) = max_(j = i, i+1) e_j min(1, (x - p_i) (p_(i+1) - x) / ((p_j - p_(j-1)) (p_(j+1) - p_j))),
///
/// and beyond the outermost points e of the nearest inner point, in proportion to the distance, up to the length of the
/// outermost gap. Points of the other regime of memory do not count. Kinds that smooth are taken for lines.
Estimate estimate(const FpmFile& file, double units, double time_s);

}  // namespace steelyard::models
