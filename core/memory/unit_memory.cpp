#include "core/memory/unit_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/device/device.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

int sharers_of_this_device = 1, number_of_devices = 1;

/// Part of a memory for each of its sharers. A tenth is left to everybody else; infinity where the size is unknown.
double share_of(double bytes, int sharers) { return bytes > 0.0 ? 0.9 * bytes / sharers : infinity; }

double units_in(double bytes, const KernelFacts& kernel, int devices = 1) {
  const double per_unit = kernel.memory_bytes_per_unit + (devices - 1) * kernel.copied_bytes_per_unit;
  if (!(per_unit > 0.0)) return infinity;
  return std::max(0.0, std::floor((bytes - kernel.memory_bytes_fixed) / per_unit));
}

}  // namespace

double unit_memory_bytes(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node) {
  const bool on_device = kind == ProcessingUnit::Kind::companion && companion_is_device;
  if (on_device) {
    const ProcessingUnit& companion = *units.companion;
    return companion.devices * share_of(device_facts(companion.device).memory_bytes, companion.device_sharers);
  }
  return share_of(machine.memory_bytes(), ranks_on_node * (companion_is_device ? 1 : units.count()));
}

double rank_memory_bytes(const Machine& machine, int ranks_on_node) {
  return share_of(machine.memory_bytes(), ranks_on_node);
}

void set_devices(int sharers, int count) {
  sharers_of_this_device = sharers;
  number_of_devices = count;
}

std::vector<int> companion_devices() {
  std::vector<int> devices(static_cast<std::size_t>(number_of_devices));
  std::iota(devices.begin(), devices.end(), current_device());
  return devices;
}

double device_memory_bytes(double cap_bytes) {
  if (!companion_is_device) return cap_bytes;
  return std::min(cap_bytes, share_of(device_facts(current_device()).memory_bytes, sharers_of_this_device));
}

UnitLimits unit_limits(const Machine& machine, const RankUnits& units, ProcessingUnit::Kind kind, int ranks_on_node,
                       const KernelFacts& kernel) {
  const bool on_host = kind == ProcessingUnit::Kind::host;
  const int devices = on_host ? 1 : units.companion->devices;
  const double cap_bytes = on_host ? infinity : devices * kernel.device_memory_bytes;
  const double bytes = std::min(unit_memory_bytes(machine, units, kind, ranks_on_node), cap_bytes);
  const double in_core = units_in(bytes, kernel, devices);
  if (on_host || !kernel.runs_out_of_core) return {in_core, in_core};
  const double in_host = units_in(rank_memory_bytes(machine, ranks_on_node), kernel);
  return {in_core, std::max(in_core, in_host)};
}

}  // namespace steelyard
