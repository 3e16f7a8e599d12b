#pragma once

#include <string>
#include <vector>

#include "models/communication/hockney.hpp"

namespace steelyard {

/// Copies between host and device of one direction and kind of host memory.
struct CopyTimes {
  std::string name;                        ///< such as `host to device, pinned`
  std::vector<models::MessageTime> times;  ///< by size; medians over the rounds
};

/// Times copies between this rank's device and pinned and pageable host memory in both directions, each from the call
/// until the fence. Nothing where there is no device. Kokkos must be initialised. Source: 003, sections 5.1 and 6.3.1.
/// @param bytes growing sizes, each at least 1
std::vector<CopyTimes> time_device_copies(const std::vector<int>& bytes, int rounds);

}  // namespace steelyard
