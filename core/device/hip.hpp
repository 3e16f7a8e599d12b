#pragma once

// HIP's run time, hipBLAS and hipFFT under the names that vendor.cpp has for them.

#include <fmt/format.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <hipfft/hipfft.h>

#include <string>

#include "core/spaces.hpp"

namespace steelyard::vendor {

using Stream = hipStream_t;
inline int device_of(const CompanionExecution& queue) { return queue.hip_device(); }
inline Stream stream_of(const CompanionExecution& queue) { return queue.hip_stream(); }
inline CompanionExecution queue_of(Stream stream) { return CompanionExecution(stream); }

using Error = hipError_t;
inline constexpr Error success = hipSuccess;
inline const char* error_text(Error error) { return hipGetErrorString(error); }

using DeviceProperties = hipDeviceProp_t;
inline Error device_count(int* count) { return hipGetDeviceCount(count); }
inline Error device_properties(DeviceProperties* facts, int device) { return hipGetDeviceProperties(facts, device); }
inline Error pci_bus(char* text, int size, int device) { return hipDeviceGetPCIBusId(text, size, device); }
inline Error set_device(int device) { return hipSetDevice(device); }
inline Error stream_create(Stream* stream) { return hipStreamCreate(stream); }

inline Error copy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t row_bytes, std::size_t rows, Stream stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, hipMemcpyDefault, stream);
}

using Event = hipEvent_t;
inline constexpr unsigned event_without_time = hipEventDisableTiming;
inline Error event_create(Event* event, unsigned flags) { return hipEventCreateWithFlags(event, flags); }
inline Error event_destroy(Event event) { return hipEventDestroy(event); }
inline Error event_record(Event event, Stream stream) { return hipEventRecord(event, stream); }
inline Error event_elapsed_time(float* milliseconds, Event from, Event to) {
  return hipEventElapsedTime(milliseconds, from, to);
}
inline Error stream_wait_event(Stream stream, Event event, unsigned flags) {
  return hipStreamWaitEvent(stream, event, flags);
}

using BlasHandle = hipblasHandle_t;
using BlasStatus = hipblasStatus_t;
inline constexpr BlasStatus blas_success = HIPBLAS_STATUS_SUCCESS;
inline constexpr hipblasOperation_t not_transposed = HIPBLAS_OP_N;
inline constexpr auto blas_create = &hipblasCreate;
inline constexpr auto blas_destroy = &hipblasDestroy;
inline constexpr auto blas_set_stream = &hipblasSetStream;
inline constexpr auto blas_status_text = &hipblasStatusToString;
inline constexpr auto dgemm = &hipblasDgemm;
inline constexpr auto sgemm = &hipblasSgemm;

using FftHandle = hipfftHandle;
using FftStatus = hipfftResult;
using FftType = hipfftType;
using DoubleComplex = hipfftDoubleComplex;
using FloatComplex = hipfftComplex;
inline constexpr FftStatus fft_success = HIPFFT_SUCCESS;
inline constexpr FftType type_z2z = HIPFFT_Z2Z, type_c2c = HIPFFT_C2C, type_d2z = HIPFFT_D2Z, type_r2c = HIPFFT_R2C;
inline constexpr int fft_forward = HIPFFT_FORWARD, fft_inverse = HIPFFT_BACKWARD;
inline constexpr auto fft_create = &hipfftCreate;
inline constexpr auto fft_destroy = &hipfftDestroy;
inline constexpr auto fft_set_stream = &hipfftSetStream;
inline constexpr auto fft_make_plan_many = &hipfftMakePlanMany64;
inline constexpr auto fft_z2z = &hipfftExecZ2Z;
inline constexpr auto fft_c2c = &hipfftExecC2C;
inline constexpr auto fft_d2z = &hipfftExecD2Z;
inline constexpr auto fft_r2c = &hipfftExecR2C;

inline std::string blas_name() {
  return fmt::format("hipBLAS {}.{}.{}", hipblasVersionMajor, hipblasVersionMinor, hipblasVersionPatch);
}
inline std::string fft_name() {
  int version = 0;
  hipfftGetVersion(&version);
  return fmt::format("hipFFT {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace steelyard::vendor
