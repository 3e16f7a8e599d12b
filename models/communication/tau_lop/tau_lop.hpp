#pragma once

#include <cstdint>
#include <set>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// tau-Lop on a platform: what concurrent transmissions through one channel cost.
class TauLop {
 public:
  /// @param platform must outlive this
  explicit TauLop(const Platform& platform, BeyondMeasured beyond = BeyondMeasured::refuse)
      : platform_(&platform), beyond_(beyond) {}

  /// A || T^c(m) = o^c(m) + sum over the transfers c' of the channel's path of L^c'(m, A): seconds until `concurrency`
  /// transmissions of `bytes` each, started together, have all arrived. The overhead belongs to the processor, which
  /// nobody shares. Source: 001, section 3, equations 1-3.
  /// @throws InvalidArgument for an unknown channel, one without tau-Lop parameters, a negative size, and more
  /// concurrent transfers than were measured unless they may be extrapolated
  double transmission_s(int channel, double bytes, std::int64_t concurrency = 1) const;

  /// The largest measured message of any channel of which overhead is more than this share: for A1, which neglects
  /// overheads, only longer ones are to be merged. 0 where there is none. Source: 001, section 3 (A1)
  /// @throws InvalidArgument where a channel with tau-Lop parameters has one without them on its path
  double overhead_matters_up_to_bytes(double share = 0.1) const;
  /// Makes the model of these channels alone. @throws InvalidArgument also for an unknown channel
  double overhead_matters_up_to_bytes(const std::set<int>& channels, double share = 0.1) const;

  /// o^c(m), seconds.
  double overhead_s(int channel, double bytes) const;

 private:
  const Platform* platform_;
  BeyondMeasured beyond_;
};

}  // namespace steelyard::models
