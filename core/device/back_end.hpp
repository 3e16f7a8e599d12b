#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#if defined(STEELYARD_EMULATED_DEVICE)
#include "tests/device/emulated/kokkos.hpp"
#endif

// Code that a device's compiler compiles for the device …
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define STEELYARD_IN_DEVICE_CODE
#endif
// … and vector types of the compiler, which devices' compilers refuse also in the host's code.
#if defined(__GNUC__) && !defined(__NVCC__) && !defined(__HIPCC__)
#define STEELYARD_HAS_VECTOR_TYPES
#endif

namespace steelyard {

/// Execution space of this build's device, Kokkos' or an emulated one; Kokkos' host space where there is neither.
#if defined(STEELYARD_EMULATED_DEVICE)
using DeviceExecution = EmulatedDevice;
#else
using DeviceExecution = Kokkos::DefaultExecutionSpace;
#endif

/// Host memory that the device copies from and to at full speed; ordinary host memory where there is no device.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using PinnedMemory = Kokkos::SharedHostPinnedSpace;
#else
using PinnedMemory = Kokkos::HostSpace;
#endif

/// Whether the device's own BLAS and FFT are linked.
#if defined(STEELYARD_DEVICE_CALLS)
inline constexpr bool has_device_libraries = true;
#else
inline constexpr bool has_device_libraries = false;
#endif

}  // namespace steelyard
