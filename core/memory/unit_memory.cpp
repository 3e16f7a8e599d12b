#include "core/memory/unit_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/device.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

int sharers_of_this_device = 1;

/// Part of a memory for each of its sharers. A tenth is left to everybody else; infinity where the size is unknown.
double share_of(double bytes, int sharers) { return bytes > 0.0 ? 0.9 * bytes / sharers : infinity; }

double units_in(double bytes, const KernelFacts& kernel) {
  if (!(kernel.memory_bytes_per_unit > 0.0)) return infinity;
  return std::max(0.0, std::floor((bytes - kernel.memory_bytes_fixed) / kernel.memory_bytes_per_unit));
}

}  // namespace

double unit_memory_bytes(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node) {
  const bool on_device = kind == ProcessingUnit::Kind::companion && companion_is_device;
  if (on_device) return share_of(device_facts(units.companion->device).memory_bytes, units.companion->device_sharers);
  return share_of(machine.memory_bytes(), ranks_on_node * (companion_is_device ? 1 : units.count()));
}

double rank_memory_bytes(const Machine& machine, int ranks_on_node) {
  return share_of(machine.memory_bytes(), ranks_on_node);
}

void set_device_sharers(int ranks) { sharers_of_this_device = ranks; }

double device_memory_bytes(double cap_bytes) {
  if (!companion_is_device) return cap_bytes;
  return std::min(cap_bytes, share_of(device_facts(current_device()).memory_bytes, sharers_of_this_device));
}

UnitLimits unit_limits(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node,
                       const KernelFacts& kernel) {
  const bool on_host = kind == ProcessingUnit::Kind::host;
  double cap_bytes = kernel.device_memory_bytes;
  if (on_host) cap_bytes = infinity;
  const double bytes = std::min(unit_memory_bytes(machine, units, kind, ranks_on_node), cap_bytes);
  const double in_core = units_in(bytes, kernel);
  if (on_host || !kernel.runs_out_of_core) return {in_core, in_core};
  const double in_host = units_in(rank_memory_bytes(machine, ranks_on_node), kernel);
  return {in_core, std::max(in_core, in_host)};
}

}  // namespace steelyard
