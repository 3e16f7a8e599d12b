#pragma once

#include <Kokkos_Complex.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "tests/device/emulated/kokkos.hpp"
#include "tests/device/emulated/queue.hpp"

// Stand-ins for a vendor's run time, BLAS and FFT over the emulated device, under the names that vendor.cpp has for
// them. They take what the vendors' calls take, so that vendor.cpp runs as it does on a GPU.

namespace steelyard::vendor {

inline constexpr auto kokkos_key = "400_Emulated";  ///< of the space among those that Kokkos starts
using Stream = emulated::Queue*;
int device_of(const EmulatedDevice& queue);
inline Stream stream_of(const EmulatedDevice& queue) { return &queue.queue(); }

enum class Error { none, no_such_device, wrong_pitch, device_of_another_thread };
inline constexpr Error success = Error::none;
const char* error_text(Error error);

struct DeviceProperties {
  char name[64];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
};
Error device_count(int* count);
Error device_properties(DeviceProperties* facts, int device);
Error pci_bus(char* text, int size, int device);
Error set_device(int device);

Error copy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t row_bytes,
                    std::size_t rows, Stream stream);

using Event = emulated::Event*;
inline constexpr unsigned event_without_time = 2;
Error event_create(Event* event, unsigned flags);
Error event_destroy(Event event);
Error event_record(Event event, Stream stream);
Error event_elapsed_time(float* milliseconds, Event from, Event to);
Error stream_wait_event(Stream stream, Event event, unsigned flags);

/// Matrices lie column after column, as for every vendor's BLAS.
using BlasHandle = Stream*;
enum class BlasStatus { good };
inline constexpr BlasStatus blas_success = BlasStatus::good;
enum class Transpose { no };
inline constexpr Transpose not_transposed = Transpose::no;
BlasStatus blas_create(BlasHandle* handle);
BlasStatus blas_destroy(BlasHandle handle);
BlasStatus blas_set_stream(BlasHandle handle, Stream stream);
const char* blas_status_text(BlasStatus status);
BlasStatus dgemm(BlasHandle handle, Transpose, Transpose, int m, int n, int k, const double* alpha, const double* a,
                 int a_leading, const double* b, int b_leading, const double* beta, double* c, int c_leading);
BlasStatus sgemm(BlasHandle handle, Transpose, Transpose, int m, int n, int k, const float* alpha, const float* a,
                 int a_leading, const float* b, int b_leading, const float* beta, float* c, int c_leading);
std::string blas_name();

struct FftState;
using FftHandle = FftState*;
enum class FftStatus { good, no_plan, wrong_size };
enum class FftType { z2z, c2c, d2z, r2c };
using DoubleComplex = Kokkos::complex<double>;
using FloatComplex = Kokkos::complex<float>;
inline constexpr FftStatus fft_success = FftStatus::good;
inline constexpr FftType type_z2z = FftType::z2z, type_c2c = FftType::c2c, type_d2z = FftType::d2z,
                         type_r2c = FftType::r2c;
inline constexpr int fft_forward = -1, fft_inverse = 1;
FftStatus fft_create(FftHandle* handle);
FftStatus fft_destroy(FftHandle handle);
FftStatus fft_set_stream(FftHandle handle, Stream stream);
FftStatus fft_make_plan_many(FftHandle handle, int rank, long long* length, long long* in_embed, long long in_stride,
                             long long in_pitch, long long* out_embed, long long out_stride, long long out_pitch,
                             FftType type, long long count, std::size_t* work_bytes);
FftStatus fft_z2z(FftHandle handle, DoubleComplex* in, DoubleComplex* out, int direction);
FftStatus fft_c2c(FftHandle handle, FloatComplex* in, FloatComplex* out, int direction);
FftStatus fft_d2z(FftHandle handle, double* in, DoubleComplex* out);
FftStatus fft_r2c(FftHandle handle, float* in, FloatComplex* out);
std::string fft_name();

}  // namespace steelyard::vendor
