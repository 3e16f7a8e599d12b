#pragma once

#include <hwloc.h>
#include <sched.h>

#include <set>

#include "core/machine.hpp"

namespace steelyard::tests {

/// Hardware threads by the operating system's number.
using Cpus = std::set<unsigned>;

/// What the kernel, not hwloc, says that the first thread of a process may run on; 0 is the calling thread.
inline Cpus cpus_of_process(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  Cpus cpus;
  if (::sched_getaffinity(process, sizeof(set), &set) != 0) return cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
  }
  return cpus;
}

inline Cpus cpus_of_this_thread() { return cpus_of_process(0); }

/// The hardware threads of these cores of this machine.
inline Cpus cpus_of_cores(const CoreList& cores) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  hwloc_topology_load(topology);
  Cpus cpus;
  for (const int number : cores) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(number));
    for (int cpu = -1; core != nullptr && (cpu = hwloc_bitmap_next(core->cpuset, cpu)) >= 0;) {
      cpus.insert(static_cast<unsigned>(cpu));
    }
  }
  hwloc_topology_destroy(topology);
  return cpus;
}

}  // namespace steelyard::tests
