#pragma once

#include <vector>

#include "core/machine.hpp"
#include "core/measurable_kernel.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Bytes of memory that a unit may use: an equal share of its GPUs' among the ranks that drive it, or of the host's
/// among the node's units that live there. Here and below, a tenth is left to others; unknown memory is infinite.
double unit_memory_bytes(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node);

/// Bytes of the node's memory that one of its ranks may use.
double rank_memory_bytes(const Machine& machine, int ranks_on_node);

/// Says how many ranks of the node drive the device that Kokkos works on, and of how many devices from that one on this
/// rank's companion consists; Runtime does, as it chooses the device.
void set_devices(int sharers, int count);

/// Numbers of the devices that are this rank's companion, Kokkos' own first; one of -1 where it is no device.
std::vector<int> companion_devices();

/// Bytes that a kernel of this rank may use of each of these, at most `cap_bytes`, the only limit on a host.
double device_memory_bytes(double cap_bytes);

/// Sizes that fit, in computation units.
struct UnitLimits {
  double in_core_units = 0.0;  ///< into the unit's own memory
  double max_units = 0.0;      ///< at all; larger only for a kernel that runs out of core, from host memory
};

UnitLimits unit_limits(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node,
                       const KernelFacts& kernel);

}  // namespace steelyard
