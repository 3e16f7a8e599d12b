#pragma once

#include "core/compatibility.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard {

/// @throws RuntimeFailure with the name of the call and what CUDA says, unless it succeeded
inline void check_cuda(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw RuntimeFailure(fmt::format("{}: {}", call, cudaGetErrorString(error)));
}

/// Makes the queue's device that of the calling thread: a driver thread's is not Kokkos' choice.
inline void use_device_of(const Kokkos::Cuda& queue) {
  check_cuda(cudaSetDevice(queue.cuda_device()), "cudaSetDevice");
}

}  // namespace steelyard
#endif
