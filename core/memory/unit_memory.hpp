#pragma once

#include "core/machine.hpp"
#include "core/measurable_kernel.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Bytes of memory that a unit may use: of a GPU's a share as large as that of every other rank that drives it; of the
/// host's a share as large as that of every other unit of the node that lives in host memory. Here and below, a tenth
/// is left to everybody else, and memory of unknown size is infinite.
double unit_memory_bytes(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node);

/// Bytes of the node's memory that one of its ranks may use.
double rank_memory_bytes(const Machine& machine, int ranks_on_node);

/// Says how many ranks of the node drive the device that Kokkos works on; Runtime does, as it chooses the device.
void set_device_sharers(int ranks);

/// Bytes of the memory of the device that Kokkos works on that one kernel of this rank may use, at most `cap_bytes`; a
/// host space has no other limit than that.
double device_memory_bytes(double cap_bytes);

/// Sizes that fit, in computation units.
struct UnitLimits {
  double in_core_units = 0.0;  ///< into the unit's own memory
  double max_units = 0.0;      ///< at all; larger only for a kernel that runs out of core, from host memory
};

UnitLimits unit_limits(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node,
                       const KernelFacts& kernel);

}  // namespace steelyard
