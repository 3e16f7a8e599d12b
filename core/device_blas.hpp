#pragma once

#include <string>

#include "core/gemm_call.hpp"
#include "core/spaces.hpp"

namespace steelyard {

/// Whether the vendor's BLAS for the companion's device is linked.
#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool has_device_blas = true;
#else
inline constexpr bool has_device_blas = false;
#endif

/// Such as `cuBLAS 13.0.2`. @throws RuntimeFailure where no such library is linked
std::string device_blas_name();

/// The multiplication of matrices in the device's memory on the queue of `space`; the caller fences. Needs n, k >= 1.
/// Each queue of a thread has a context of its own, so that multiplications on several may overlap.
/// @throws RuntimeFailure when the library refuses, or where none is linked
void device_blas_gemm(const CompanionExecution& space, const GemmCall<double>& call);
void device_blas_gemm(const CompanionExecution& space, const GemmCall<float>& call);

}  // namespace steelyard
