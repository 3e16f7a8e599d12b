#pragma once

#include <span>

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

/// Least squares fit of equation 2.8 (003, section 6.3.1), each message weighted by 1 / time so that short and long
/// ones count alike; a latency below 0 becomes 0.
/// @throws InvalidArgument for fewer than two different sizes, times that are not positive, or times that do not grow
Hockney fit_hockney(std::span<const MessageTime> messages);

}  // namespace steelyard::models
