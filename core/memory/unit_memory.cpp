#include "core/memory/unit_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/device.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

constexpr double usable_share = 0.9;

int sharers_of_this_device = 1;

/// Share of a device's memory for one of the ranks that drive it.
double own_share(int device, int sharers) {
  const double bytes = device_facts(device).memory_bytes;
  return bytes > 0.0 ? usable_share * bytes / sharers : std::numeric_limits<double>::infinity();
}

double node_memory_bytes(const Machine& machine) {
  const double bytes = machine.memory_bytes();
  return bytes > 0.0 ? usable_share * bytes : std::numeric_limits<double>::infinity();
}

double units_in(double bytes, const KernelFacts& kernel) {
  if (!(kernel.memory_bytes_per_unit > 0.0)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, std::floor((bytes - kernel.memory_bytes_fixed) / kernel.memory_bytes_per_unit));
}

}  // namespace

double unit_memory_bytes(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node) {
  const bool on_device = kind == ProcessingUnit::Kind::companion && companion_is_device;
  if (on_device) return own_share(units.companion->device, units.companion->device_sharers);
  const int sharers = ranks_on_node * (companion_is_device ? 1 : units.count());
  return node_memory_bytes(machine) / sharers;
}

double rank_memory_bytes(const Machine& machine, int ranks_on_node) {
  return node_memory_bytes(machine) / ranks_on_node;
}

void set_device_sharers(int ranks) { sharers_of_this_device = ranks; }

double device_memory_bytes(double cap_bytes) {
  return companion_is_device ? std::min(cap_bytes, own_share(current_device(), sharers_of_this_device)) : cap_bytes;
}

UnitLimits unit_limits(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node,
                       const KernelFacts& kernel) {
  const bool on_host = kind == ProcessingUnit::Kind::host;
  const double cap_bytes = on_host ? std::numeric_limits<double>::infinity() : kernel.device_memory_bytes;
  const double bytes = std::min(unit_memory_bytes(machine, units, kind, ranks_on_node), cap_bytes);
  const double in_core = units_in(bytes, kernel);
  if (on_host || !kernel.runs_out_of_core) return {in_core, in_core};
  const double in_host = units_in(rank_memory_bytes(machine, ranks_on_node), kernel);
  return {in_core, std::max(in_core, in_host)};
}

}  // namespace steelyard
