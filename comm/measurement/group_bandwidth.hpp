#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "core/co_execution.hpp"

namespace steelyard {

/// Memory bandwidth that the units of all ranks reach together when they stream at the same time: the bound for kernels
/// that read two arrays and write one of them back (see core/stream.hpp).
class GroupBandwidth {
 public:
  /// Allocates on each unit. @param host_elements of each of the two arrays of doubles; 0 for a unit that does nothing.
  /// Arrays are cut off at 256 MiB, which no cache holds.
  GroupBandwidth(MPI_Comm comm, CoExecution& co_execution, std::int64_t host_elements, std::int64_t companion_elements);
  ~GroupBandwidth();

  /// Sum over all units of the bytes per second of each one's fastest pass of a few, as STREAM counts (003, section
  /// 6.3.2). Collective.
  double measure_bytes_per_s();
  /// Size of this rank's arrays.
  double array_bytes() const;

 private:
  struct Probes;
  MPI_Comm comm_;
  CoExecution& co_execution_;
  std::unique_ptr<Probes> probes_;
};

}  // namespace steelyard
