#pragma once

#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/hockney.hpp"

namespace steelyard::models {

/// One stretch of message sizes with its own parameters.
struct HockneySegment {
  double up_to_bytes = 0.0;  ///< infinity for the last
  Hockney hockney;
};

/// Placeholder until the branch with the LogGP family is merged.
struct PiecewiseHockney {
  std::vector<HockneySegment> segments;
  double time_s(double bytes) const {
    for (const HockneySegment& segment : segments) {
      if (bytes <= segment.up_to_bytes) return segment.hockney.time_s(bytes);
    }
    throw InvalidArgument("message of no size that a segment holds");
  }
};

}  // namespace steelyard::models
