#pragma once

// The host as a device, under the names that vendor.cpp has for a vendor's calls: its work has been done when a call
// returns. Made by the steps of core/device/README.md, to see that they are enough.

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "core/host_blas.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"

namespace steelyard::vendor {

using Stream = int;
inline int device_of(const CompanionExecution& /*queue*/) { return 0; }
inline Stream stream_of(const CompanionExecution& /*queue*/) { return 0; }
inline CompanionExecution queue_of(Stream /*stream*/) { return {}; }

enum class Error { none, no_such_device, wrong_pitch };
inline constexpr Error success = Error::none;
inline const char* error_text(Error error) {
  return error == Error::no_such_device ? "there is no such device" : "rows are longer than their pitch";
}

struct DeviceProperties {
  const char* name;
  std::size_t totalGlobalMem, sharedMemPerBlock;
};
inline Error device_count(int* count) {
  *count = 1;
  return success;
}
inline Error device_properties(DeviceProperties* facts, int device) {
  if (device != 0) return Error::no_such_device;
  const auto bytes = [](int count, int unit) {
    return static_cast<std::size_t>(::sysconf(count)) * static_cast<std::size_t>(::sysconf(unit));
  };
  *facts = {"host", bytes(_SC_PHYS_PAGES, _SC_PAGESIZE), 32768};
  return success;
}
inline Error pci_bus(char* /*text*/, int /*size*/, int /*device*/) { return Error::no_such_device; }
inline Error set_device(int device) { return device == 0 ? success : Error::no_such_device; }
inline Error stream_create(Stream* /*stream*/) { return success; }

inline Error copy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t row_bytes, std::size_t rows, Stream /*stream*/) {
  if (row_bytes > to_pitch || row_bytes > from_pitch) return Error::wrong_pitch;
  for (std::size_t i = 0; i < rows; ++i) {
    std::memcpy(static_cast<std::byte*>(to) + i * to_pitch, static_cast<const std::byte*>(from) + i * from_pitch,
                row_bytes);
  }
  return success;
}

/// The moment when it was recorded.
using Event = double*;
inline constexpr unsigned event_without_time = 1;
inline Error event_create(Event* event, unsigned /*flags*/) {
  *event = new double(0.0);
  return success;
}
inline Error event_destroy(Event event) {
  delete event;
  return success;
}
inline Error event_record(Event event, Stream /*stream*/) {
  *event = now_s();
  return success;
}
inline Error event_elapsed_time(float* milliseconds, Event from, Event to) {
  *milliseconds = static_cast<float>(1e3 * (*to - *from));
  return success;
}
inline Error stream_wait_event(Stream /*stream*/, Event /*event*/, unsigned /*flags*/) { return success; }

using BlasHandle = int;
enum class BlasStatus { good };
inline constexpr BlasStatus blas_success = BlasStatus::good;
enum class Transpose { no };
inline constexpr Transpose not_transposed = Transpose::no;
inline BlasStatus blas_create(BlasHandle* /*handle*/) { return blas_success; }
inline BlasStatus blas_destroy(BlasHandle /*handle*/) { return blas_success; }
inline BlasStatus blas_set_stream(BlasHandle /*handle*/, Stream /*stream*/) { return blas_success; }
inline const char* blas_status_text(BlasStatus /*status*/) { return "no error"; }
/// What lies column after column is a transpose that lies row after row.
template <class Scalar>
BlasStatus gemm(BlasHandle /*handle*/, Transpose /*a*/, Transpose /*b*/, int m, int n, int k, const Scalar* alpha,
                const Scalar* a, int a_leading, const Scalar* b, int b_leading, const Scalar* beta, Scalar* c,
                int c_leading) {
  host_blas_gemm(GemmCall<Scalar>{n, m, k, *alpha, b, b_leading, a, a_leading, *beta, c, c_leading});
  return blas_success;
}
inline constexpr auto dgemm = &gemm<double>;
inline constexpr auto sgemm = &gemm<float>;
inline std::string blas_name() { return host_blas().name; }

struct FftPlan {
  long long length = 0, in_pitch = 0, out_pitch = 0, count = 0;
};
using FftHandle = FftPlan*;
enum class FftStatus { good, wrong_plan };
enum class FftType { z2z, c2c, d2z, r2c };
using DoubleComplex = Kokkos::complex<double>;
using FloatComplex = Kokkos::complex<float>;
inline constexpr FftStatus fft_success = FftStatus::good;
inline constexpr FftType type_z2z = FftType::z2z, type_c2c = FftType::c2c, type_d2z = FftType::d2z,
                         type_r2c = FftType::r2c;
inline constexpr int fft_forward = -1, fft_inverse = 1;
inline FftStatus fft_create(FftHandle* handle) {
  *handle = new FftPlan;
  return fft_success;
}
inline FftStatus fft_destroy(FftHandle handle) {
  delete handle;
  return fft_success;
}
inline FftStatus fft_set_stream(FftHandle /*handle*/, Stream /*stream*/) { return fft_success; }
inline FftStatus fft_make_plan_many(FftHandle handle, int rank, long long* length, long long* /*in_embed*/,
                                    long long in_stride, long long in_pitch, long long* /*out_embed*/,
                                    long long out_stride, long long out_pitch, FftType /*type*/, long long count,
                                    std::size_t* work_bytes) {
  if (rank != 1 || in_stride != 1 || out_stride != 1) return FftStatus::wrong_plan;
  *handle = {*length, in_pitch, out_pitch, count};
  *work_bytes = 0;
  return fft_success;
}
/// Every point by its definition, of rows one after the other, each from a copy of its input.
template <class In, class Complex>
FftStatus transform(FftHandle plan, In* in, Complex* out, int direction) {
  const auto n = static_cast<std::size_t>(plan->length);
  std::vector<Kokkos::complex<double>> roots(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    roots[j] = Kokkos::complex<double>(std::cos(angle), direction * std::sin(angle));
  }
  const std::size_t stored = std::is_same_v<In, Complex> ? n : n / 2 + 1;
  for (long long row = 0; row < plan->count; ++row) {
    const std::vector<In> points(in + row * plan->in_pitch, in + row * plan->in_pitch + n);
    for (std::size_t k = 0; k < stored; ++k) {
      Kokkos::complex<double> sum;
      for (std::size_t j = 0; j < n; ++j) sum += Kokkos::complex<double>(points[j]) * roots[j * k % n];
      out[row * plan->out_pitch + static_cast<long long>(k)] = Complex(sum);
    }
  }
  return fft_success;
}
inline constexpr auto fft_z2z = &transform<DoubleComplex, DoubleComplex>;
inline constexpr auto fft_c2c = &transform<FloatComplex, FloatComplex>;
inline FftStatus fft_d2z(FftHandle plan, double* in, DoubleComplex* out) {
  return transform(plan, in, out, fft_forward);
}
inline FftStatus fft_r2c(FftHandle plan, float* in, FloatComplex* out) { return transform(plan, in, out, fft_forward); }
inline std::string fft_name() { return "DFT by its definition 1.0"; }

}  // namespace steelyard::vendor
