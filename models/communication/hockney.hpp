#pragma once

#include <span>
#include <vector>

namespace steelyard::models {

/// Seconds for a message by its size: T(m) = latency + m / bandwidth. Source: 003, section 2.7.1, equation 2.8.
struct Hockney {
  double latency_s = 0.0;              ///< alpha, >= 0
  double bandwidth_bytes_per_s = 0.0;  ///< beta, > 0
  double time_s(double bytes) const;   ///< @throws InvalidArgument for a negative size or a model without bandwidth
};

/// A measured message: one way.
struct MessageTime {
  double bytes = 0.0;
  double time_s = 0.0;
};
/// @throws InvalidArgument unless its size is >= 0, its time > 0 and both are finite
void require_measured(const MessageTime& message);

/// Least squares fit of equation 2.8 (003, section 6.3.1), each message weighted by 1 / time so that short and long
/// ones count alike; a latency below 0 becomes 0. This is fit_piecewise_hockney() with one segment.
/// @throws InvalidArgument for fewer than two different sizes, impossible sizes or times, or times that do not grow
Hockney fit_hockney(std::span<const MessageTime> messages);

/// One stretch of message sizes with its own parameters.
struct HockneySegment {
  double up_to_bytes = 0.0;  ///< the largest size that it holds; infinity for the last
  Hockney hockney;
};

/// Hockney's model with parameters for each protocol of the channel: seconds by the first segment that holds the size.
/// It can jump where the protocol changes, in either direction. Source: 003, section 8.2.
struct PiecewiseHockney {
  std::vector<HockneySegment> segments;  ///< by growing up_to_bytes
  /// @throws InvalidArgument for a negative size or one that no segment holds
  double time_s(double bytes) const;
};

/// Segments and their parameters with the least sum of squared relative misses R = sum ((T(m) - t) / t)^2 among all
/// ways to cut the sorted sizes into runs of at least three different sizes, by dynamic programming over the sizes:
/// O(n^2) in time, O(n) in memory. Source: 003, section 8.2 (the model), 6.3.1 (regression within a segment).
///
/// How many segments k, up to `most_segments`: the least of ln(R / (n - p)) + 0.299 p (ln n)^2.1 / n over the n
/// messages, p = 4 k - 2 < n and R / (n - p) at least 1e-12: the criterion of Liu, Wu and Zidek, On segmented
/// multivariate regression, Statistica Sinica 7, 1997, with one more parameter a boundary as Kim and Kim, Consistent
/// model selection in segmented line regression, J. Stat. Plan. Inference 170, 2016, propose. Boundaries are chosen by
/// the data, which lets noise look like them: of linear channels measured at about twenty sizes with normal noise,
/// Schwarz's criterion (BIC) cuts a quarter, this one at most 3 in 100.
///
/// A segment ends where its line meets the next one if that lies between the neighbouring measured sizes of the two, so
/// that the model is continuous there; otherwise (a jump, somewhere between them) at its own largest measured size.
/// Latencies are >= 0. Where times do not grow within a segment, its bandwidth is the one at which its largest message
/// takes a millionth of its shortest time for its bytes: finite, so that a file can hold it, and without effect on
/// these sizes. The last segment has no end, so its times must grow.
/// @throws InvalidArgument for fewer than two different sizes, impossible sizes or times, most_segments < 1, or times
/// that do not grow towards the longest messages
PiecewiseHockney fit_piecewise_hockney(std::span<const MessageTime> messages, int most_segments = 4);

}  // namespace steelyard::models
