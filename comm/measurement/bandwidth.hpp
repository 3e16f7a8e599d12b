#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/co_execution.hpp"
#include "core/stream.hpp"
#include "models/communication/channel_fit.hpp"

namespace steelyard {

/// Memory bandwidth that the units of all ranks reach together when they stream at the same time: the bound for kernels
/// that read two arrays and write one of them back (see core/stream.hpp).
class GroupBandwidth {
 public:
  /// Allocates on each unit. @param host_elements of each of the two arrays of doubles; 0 for a unit that does nothing.
  /// Arrays are cut off at 256 MiB, which no cache holds.
  GroupBandwidth(MPI_Comm comm, CoExecution& co_execution, std::int64_t host_elements, std::int64_t companion_elements);

  /// Sum over all units of the bytes per second of each one's fastest pass of a few, as STREAM counts (003, section
  /// 6.3.2). Collective.
  double measure_bytes_per_s();
  /// Size of this rank's arrays.
  double array_bytes() const;

 private:
  MPI_Comm comm_;
  CoExecution& co_execution_;
  std::optional<MemoryBoundProbe<HostExecution>> host_;
  std::optional<MemoryBoundProbe<CompanionExecution>> companion_;
};

/// Copies between host and device of one direction and kind of host memory.
struct CopyTimes {
  std::string name;                        ///< such as `host to device, pinned`
  std::vector<models::MessageTime> times;  ///< by size; medians over the rounds
};

/// Seconds until copies of `bytes` from pinned host memory to each of these devices have ended, all of which start at
/// the same time: the median of some. @throws RuntimeFailure from a device
double time_copies_to(const std::vector<int>& devices, std::size_t bytes);

/// Times copies between this rank's device and pinned and pageable host memory in both directions, each from the call
/// until the fence; of several devices also between all of them and pinned memory at once. Nothing where there is none.
/// Kokkos must be initialised. Source: 003, sections 5.1 and 6.3.1.
/// @param bytes growing sizes, each at least 1
std::vector<CopyTimes> time_device_copies(const std::vector<int>& bytes, int rounds);

/// Times messages between the devices of ranks 0 and 1, half of a round trip each: `device to device, staged` in pinned
/// host memory and, where MPI takes device memory, `…, direct`. Nothing on other ranks or without devices. Collective.
std::vector<CopyTimes> time_device_messages(MPI_Comm comm, const std::vector<int>& bytes, int rounds);

}  // namespace steelyard
