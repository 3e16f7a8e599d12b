#include "core/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

/// A hwloc processor set that frees itself.
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, decltype(&hwloc_bitmap_free)>;

Bitmap make_bitmap() { return {hwloc_bitmap_alloc(), &hwloc_bitmap_free}; }

CoreList cores_in(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  CoreList cores;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, set) != 0) cores.push_back(static_cast<int>(core->logical_index));
  }
  return cores;
}

}  // namespace

std::string format_cores(const CoreList& cores) {
  if (cores.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last > i ? fmt::format("{}-{}", cores[i], cores[last]) : fmt::format("{}", cores[i]);
    i = last + 1;
  }
  return text;
}

CoreList parse_cores(const std::string& text) {
  const auto fail = [&] {
    throw InvalidArgument(fmt::format("core list \"{}\" (expected numbers and ranges such as 0-3,6)", text));
  };
  const auto number = [&](const std::string& digits) {
    int value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > 1 << 20) fail();
    return value;
  };
  CoreList cores;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const int first = number(part.substr(0, dash));
    const int last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) fail();
    for (int core = first; core <= last; ++core) cores.push_back(core);
  }
  if (cores.empty()) fail();
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

Machine::Machine() : topology_(nullptr, &hwloc_topology_destroy) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw RuntimeFailure("hwloc cannot start");
  topology_.reset(topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(topology) != 0) throw RuntimeFailure("hwloc cannot read this machine's topology");
}

std::string Machine::host_name() const {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string Machine::processor() const {
  hwloc_obj_t package = hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_PACKAGE, 0);
  const char* model = package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return model != nullptr ? model : "unknown processor";
}

CoreList Machine::cores() const {
  return cores_in(topology_.get(), hwloc_topology_get_allowed_cpuset(topology_.get()));
}

CoreList Machine::bound_cores() const {
  const Bitmap set = make_bitmap();
#ifdef _OPENMP
  // Where OpenMP binds the first thread before main(), its places together are what the launcher had left to it.
  if (omp_get_proc_bind() != omp_proc_bind_false) {
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, processors.data());
      for (const int processor : processors) hwloc_bitmap_set(set.get(), static_cast<unsigned>(processor));
    }
    if (hwloc_bitmap_iszero(set.get()) == 0) return cores_in(topology_.get(), set.get());
  }
#endif
  if (hwloc_get_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0) return cores();
  return cores_in(topology_.get(), set.get());
}

std::vector<Machine::Cache> Machine::caches() const {
  std::vector<Cache> caches;
  const std::array types{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const int count = hwloc_get_nbobjs_by_type(topology_.get(), types[i]);
    if (count <= 0) continue;
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology_.get(), types[i], 0);
    caches.push_back({static_cast<int>(i) + 1, static_cast<std::int64_t>(cache->attr->cache.size), count});
  }
  return caches;
}

std::vector<Machine::NumaNode> Machine::numa_nodes() const {
  std::vector<NumaNode> nodes;
  const int count = hwloc_get_nbobjs_by_type(topology_.get(), HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t node = hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    nodes.push_back(
        {static_cast<std::int64_t>(node->attr->numanode.local_memory), cores_in(topology_.get(), node->cpuset)});
  }
  return nodes;
}

double Machine::memory_bytes() const {
  double in_nodes = 0.0;
  for (const NumaNode& node : numa_nodes()) in_nodes += static_cast<double>(node.bytes);
  // Memory that a virtual machine was given later is in no node.
  const bool this_system = hwloc_topology_is_thissystem(topology_.get()) != 0;
  const double in_all =
      this_system ? static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0.0;
  return std::max(in_nodes, in_all);
}

CoreList Machine::cores_near(const std::string& pci_bus) const {
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology_.get(), pci_bus.c_str());
  if (device == nullptr) return cores();
  const hwloc_obj_t ancestor = hwloc_get_non_io_ancestor_obj(topology_.get(), device);
  return cores_in(topology_.get(), ancestor->cpuset);
}

void Machine::require_cores(const CoreList& cores) const {
  const CoreList there = this->cores();
  for (const int core : cores) {
    if (std::binary_search(there.begin(), there.end(), core)) continue;
    throw InvalidArgument(
        fmt::format("core {} is not on {}, which has cores {}", core, host_name(), format_cores(there)));
  }
}

void Machine::bind_this_thread(const CoreList& cores) const {
  require_cores(cores);
  const Bitmap set = make_bitmap();
  for (const int core : cores) {
    const auto number = static_cast<unsigned>(core);
    hwloc_bitmap_or(set.get(), set.get(), hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_CORE, number)->cpuset);
  }
  if (hwloc_set_cpubind(topology_.get(), set.get(), HWLOC_CPUBIND_THREAD) != 0) {
    throw RuntimeFailure(
        fmt::format("a thread cannot be bound to cores {}: {}", format_cores(cores), std::strerror(errno)));
  }
}

double busy_core_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  std::array<double, 8> ticks{};  // user, nice, system, idle, iowait, irq, softirq, steal
  if (!(file >> word) || word != "cpu") return std::numeric_limits<double>::quiet_NaN();
  for (double& each : ticks) file >> each;
  const double idle = ticks[3] + ticks[4];
  return (std::accumulate(ticks.begin(), ticks.end(), 0.0) - idle) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace steelyard
