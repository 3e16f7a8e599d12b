#pragma once

// CUDA's run time, cuBLAS and cuFFT under the names that vendor.cpp has for them.

#include <cublas_v2.h>
#include <cufft.h>
#include <fmt/format.h>

#include <string>

#include "core/spaces.hpp"

namespace steelyard::vendor {

using Stream = cudaStream_t;
inline int device_of(const CompanionExecution& queue) { return queue.cuda_device(); }
inline Stream stream_of(const CompanionExecution& queue) { return queue.cuda_stream(); }
inline CompanionExecution queue_of(Stream stream) { return CompanionExecution(stream); }

using Error = cudaError_t;
inline constexpr Error success = cudaSuccess;
inline const char* error_text(Error error) { return cudaGetErrorString(error); }

using DeviceProperties = cudaDeviceProp;
inline Error device_count(int* count) { return cudaGetDeviceCount(count); }
inline Error device_properties(DeviceProperties* facts, int device) { return cudaGetDeviceProperties(facts, device); }
inline Error pci_bus(char* text, int size, int device) { return cudaDeviceGetPCIBusId(text, size, device); }
inline Error set_device(int device) { return cudaSetDevice(device); }
inline Error stream_create(Stream* stream) { return cudaStreamCreate(stream); }

inline Error copy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t row_bytes, std::size_t rows, Stream stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, cudaMemcpyDefault, stream);
}

using Event = cudaEvent_t;
inline constexpr unsigned event_without_time = cudaEventDisableTiming;
inline constexpr auto event_create = &cudaEventCreateWithFlags;
inline constexpr auto event_destroy = &cudaEventDestroy;
inline Error event_record(Event event, Stream stream) { return cudaEventRecord(event, stream); }
inline constexpr auto event_elapsed_time = &cudaEventElapsedTime;
inline constexpr auto stream_wait_event = &cudaStreamWaitEvent;

using BlasHandle = cublasHandle_t;
using BlasStatus = cublasStatus_t;
inline constexpr BlasStatus blas_success = CUBLAS_STATUS_SUCCESS;
inline constexpr cublasOperation_t not_transposed = CUBLAS_OP_N;
inline constexpr auto blas_create = &cublasCreate;
inline constexpr auto blas_destroy = &cublasDestroy;
inline constexpr auto blas_set_stream = &cublasSetStream;
inline constexpr auto blas_status_text = &cublasGetStatusString;
inline constexpr auto dgemm = &cublasDgemm;
inline constexpr auto sgemm = &cublasSgemm;

using FftHandle = cufftHandle;
using FftStatus = cufftResult;
using FftType = cufftType;
using DoubleComplex = cufftDoubleComplex;
using FloatComplex = cufftComplex;
inline constexpr FftStatus fft_success = CUFFT_SUCCESS;
inline constexpr FftType type_z2z = CUFFT_Z2Z, type_c2c = CUFFT_C2C, type_d2z = CUFFT_D2Z, type_r2c = CUFFT_R2C;
inline constexpr int fft_forward = CUFFT_FORWARD, fft_inverse = CUFFT_INVERSE;
inline constexpr auto fft_create = &cufftCreate;
inline constexpr auto fft_destroy = &cufftDestroy;
inline constexpr auto fft_set_stream = &cufftSetStream;
inline constexpr auto fft_make_plan_many = &cufftMakePlanMany64;
inline constexpr auto fft_z2z = &cufftExecZ2Z;
inline constexpr auto fft_c2c = &cufftExecC2C;
inline constexpr auto fft_d2z = &cufftExecD2Z;
inline constexpr auto fft_r2c = &cufftExecR2C;

/// `name 13.0.2` of what a library's property function tells.
template <class Property>
std::string name_with_version(const char* name, Property property) {
  int major = 0, minor = 0, patch = 0;
  property(MAJOR_VERSION, &major);
  property(MINOR_VERSION, &minor);
  property(PATCH_LEVEL, &patch);
  return fmt::format("{} {}.{}.{}", name, major, minor, patch);
}
inline std::string blas_name() { return name_with_version("cuBLAS", cublasGetProperty); }
inline std::string fft_name() { return name_with_version("cuFFT", cufftGetProperty); }

}  // namespace steelyard::vendor
