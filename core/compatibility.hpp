#pragma once

// What differs between Kokkos 3.4 and 5.x, and nothing else.

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

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

/// Devices that Kokkos' device back end sees; 0 in a host build. Callable before initialize_kokkos().
int device_count();

/// Model, PCI address and memory of a device; empty in a host build or where the back end does not tell.
struct DeviceFacts {
  std::string name;
  std::string pci_bus;
  double memory_bytes = 0.0;  ///< 0 where unknown
};
DeviceFacts device_facts(int device);

}  // namespace steelyard
