#pragma once

// What differs between Kokkos 3.4 and 5.x, and nothing else.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace steelyard {

/// Kokkos' serial host space, or nothing (void) in a Kokkos built without it.
#if defined(KOKKOS_ENABLE_SERIAL)
using SerialExecution = Kokkos::Serial;
#else
using SerialExecution = void;
#endif

/// `major.minor.patch` of the Kokkos this was compiled against.
std::string kokkos_version();

/// Kokkos::initialize() with this many host threads and this device (-1: Kokkos chooses), without its advice about
/// OMP_PROC_BIND: threads are bound through hwloc. Starts the host's spaces alone on a machine without a device.
/// @throws RuntimeFailure where Kokkos needs one
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

}  // namespace steelyard
