#pragma once

namespace steelyard::models {

/// Placeholder until the branch with the LogGP family is merged.
struct LogGP {
  double latency_s = 0.0;
  double send_overhead_s = 0.0;
  double receive_overhead_s = 0.0;
  double gap_s = 0.0;
  double gap_per_byte_s = 0.0;
};

}  // namespace steelyard::models
