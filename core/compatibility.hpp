#pragma once

// What differs between Kokkos 3.4 and 5.x, and nothing else.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace steelyard {

/// Host memory that a device copies from and to at full speed; ordinary host memory where there is no device.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using PinnedMemory = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using PinnedMemory = Kokkos::CudaHostPinnedSpace;
#else
using PinnedMemory = Kokkos::HostSpace;
#endif

/// Kokkos' serial host space, or nothing (void) in a Kokkos built without it.
#if defined(KOKKOS_ENABLE_SERIAL)
using SerialExecution = Kokkos::Serial;
#else
using SerialExecution = void;
#endif

/// `major.minor.patch` of the Kokkos this was compiled against.
std::string kokkos_version();

/// Kokkos::initialize() with this many host threads and this device (-1: Kokkos chooses), without its advice about
/// OMP_PROC_BIND: threads are bound through hwloc.
void initialize_kokkos(int threads, int device);

/// Instances of a device's execution space whose work may run at the same time; where Kokkos makes none, its default
/// instance several times.
template <class Execution>
std::vector<Execution> independent_instances(int count) {
#if KOKKOS_VERSION >= 40000
  return Kokkos::Experimental::partition_space(Execution(), std::vector<int>(static_cast<std::size_t>(count), 1));
#else
  return std::vector<Execution>(static_cast<std::size_t>(count), Execution());
#endif
}

/// Devices that Kokkos' device back end sees; 0 in a host build. Callable before initialize_kokkos().
int device_count();

/// Model, PCI address and memory of a device; empty in a host build or where the back end does not tell.
struct DeviceFacts {
  std::string name;
  std::string pci_bus;
  double memory_bytes = 0.0;  ///< 0 where unknown
};
DeviceFacts device_facts(int device);

/// Number of the device that Kokkos was initialised with; -1 in a host build or where the back end does not tell.
int current_device();

}  // namespace steelyard
