#pragma once

#include <fmt/format.h>

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "core/host_blas.hpp"
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/kokkos.hpp"
#include "tests/device/emulated/queue.hpp"

// Stand-ins for a vendor's run time, BLAS and FFT over the emulated device, under the names that vendor.cpp has for
// them. They take what the vendors' calls take, so that vendor.cpp runs as it does on a GPU.

namespace steelyard::vendor {

using Stream = emulated::Queue*;
inline int device_of(const EmulatedDevice& queue) { return queue.queue().device(); }
inline Stream stream_of(const EmulatedDevice& queue) { return &queue.queue(); }
inline EmulatedDevice queue_of(Stream stream) {
  return EmulatedDevice({stream, [](Stream /*stays*/) {}});
}

enum class Error { none, no_such_device, wrong_pitch, device_of_another_thread };
inline constexpr Error success = Error::none;
inline const char* error_text(Error error) {
  switch (error) {
    case Error::no_such_device:
      return "there is no such device";
    case Error::wrong_pitch:
      return "rows are longer than their pitch";
    case Error::device_of_another_thread:
      return "the calling thread has selected another device";
    case Error::none:
      break;
  }
  return "no error";
}

struct DeviceProperties {
  char name[64];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
};
inline Error device_count(int* count) {
  *count = emulated::facts().devices;
  return success;
}

inline Error device_properties(DeviceProperties* facts, int device) {
  if (device < 0 || device >= emulated::facts().devices) return Error::no_such_device;
  std::strncpy(facts->name, "Emulated 1", sizeof facts->name - 1);
  facts->totalGlobalMem = static_cast<std::size_t>(emulated::facts().memory_bytes);
  facts->sharedMemPerBlock = emulated::facts().scratch_bytes;
  return success;
}

inline Error pci_bus(char* text, int size, int device) {
  fmt::format_to_n(text, size - 1, "ffff:{:02x}:00.0", device).out[0] = '\0';
  return success;
}

inline Error set_device(int device) {
  if (device >= emulated::facts().devices) return Error::no_such_device;
  emulated::select_device(device);
  return success;
}

inline Error stream_create(Stream* stream) {
  *stream = new emulated::Queue(emulated::selected_device());
  return success;
}

inline Error copy_2d_async(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                           std::size_t row_bytes, std::size_t rows, Stream stream) {
  if (row_bytes > to_pitch || row_bytes > from_pitch) return Error::wrong_pitch;
  if (emulated::selected_device() != stream->device()) return Error::device_of_another_thread;
  if (emulated::loses(emulated::Mistake::copy)) return success;
  stream->give_copy(to, from, row_bytes * rows, [=] {
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(static_cast<std::byte*>(to) + i * to_pitch, static_cast<const std::byte*>(from) + i * from_pitch,
                  row_bytes);
    }
  });
  return success;
}

using Event = emulated::Event*;
inline constexpr unsigned event_without_time = 2;
inline Error event_create(Event* event, unsigned /*flags*/) {
  *event = new emulated::Event;
  return success;
}
inline Error event_destroy(Event event) {
  delete event;
  return success;
}
inline Error event_record(Event event, Stream stream) {
  event->record(*stream);
  return success;
}
inline Error event_elapsed_time(float* milliseconds, Event from, Event to) {
  *milliseconds = static_cast<float>(1e3 * (to->time_s() - from->time_s()));
  return success;
}
inline Error stream_wait_event(Stream stream, Event event, unsigned /*flags*/) {
  if (!emulated::loses(emulated::Mistake::event)) event->make_wait(*stream);
  return success;
}

using BlasHandle = Stream*;
enum class BlasStatus { good };
inline constexpr BlasStatus blas_success = BlasStatus::good;
enum class Transpose { no };
inline constexpr Transpose not_transposed = Transpose::no;
inline BlasStatus blas_create(BlasHandle* handle) {
  *handle = new Stream(nullptr);
  return blas_success;
}
inline BlasStatus blas_destroy(BlasHandle handle) {
  delete handle;
  return blas_success;
}
inline BlasStatus blas_set_stream(BlasHandle handle, Stream stream) {
  *handle = stream;
  return blas_success;
}
inline const char* blas_status_text(BlasStatus /*status*/) { return "no error"; }

/// Of the host's BLAS, by the queue's thread alone. Matrices lie column after column, as for every vendor's BLAS.
template <class Scalar>
BlasStatus gemm(BlasHandle handle, Transpose /*a*/, Transpose /*b*/, int m, int n, int k, const Scalar* alpha,
                const Scalar* a, int a_leading, const Scalar* b, int b_leading, const Scalar* beta, Scalar* c,
                int c_leading) {
  // What lies column after column is a transpose that lies row after row.
  const GemmCall<Scalar> call{n, m, k, *alpha, b, b_leading, a, a_leading, *beta, c, c_leading};
  const auto multiply = [call] {
    const OpenMpThreads alone(1);
    host_blas_gemm(call);
  };
  (*handle)->give("gemm", multiply, 2.0 * m * n * k);
  return blas_success;
}

inline constexpr auto dgemm = &gemm<double>;
inline constexpr auto sgemm = &gemm<float>;
inline std::string blas_name() {
  const std::string& name = host_blas().name;
  return "emulated BLAS (" + name.substr(0, name.find(" (")) + ")";
}

enum class FftStatus { good, no_plan, wrong_size };
enum class FftType { z2z, c2c, d2z, r2c };
using DoubleComplex = Kokkos::complex<double>;
using FloatComplex = Kokkos::complex<float>;
inline constexpr FftStatus fft_success = FftStatus::good;
inline constexpr FftType type_z2z = FftType::z2z, type_c2c = FftType::c2c, type_d2z = FftType::d2z,
                         type_r2c = FftType::r2c;
inline constexpr int fft_forward = -1, fft_inverse = 1;

struct FftState {
  Stream stream = nullptr;
  bool planned = false;
  FftType type = FftType::z2z;
  long long length = 0, in_pitch = 0, out_pitch = 0, count = 0;
};
using FftHandle = FftState*;
inline FftStatus fft_create(FftHandle* handle) {
  *handle = new FftState;
  return fft_success;
}
inline FftStatus fft_destroy(FftHandle handle) {
  delete handle;
  return fft_success;
}
inline FftStatus fft_set_stream(FftHandle handle, Stream stream) {
  handle->stream = stream;
  return fft_success;
}
inline FftStatus fft_make_plan_many(FftHandle handle, int rank, long long* length, long long* in_embed,
                                    long long in_stride, long long in_pitch, long long* out_embed, long long out_stride,
                                    long long out_pitch, FftType type, long long count, std::size_t* work_bytes) {
  const bool embedded = in_embed != nullptr && out_embed != nullptr;
  if (rank != 1 || *length < 1 || count < 1 || in_stride != 1 || out_stride != 1 || !embedded) {
    return FftStatus::wrong_size;
  }
  *handle = {handle->stream, true, type, *length, in_pitch, out_pitch, count};
  *work_bytes = 0;
  return fft_success;
}

/// Rows one after the other, each through memory of its own, so that they may be transformed in place.
template <class In, class Scalar>
FftStatus transform(FftHandle handle, In* in, Kokkos::complex<Scalar>* out, int direction) {
  if (!handle->planned) return FftStatus::no_plan;
  handle->stream->give("fft", [plan = *handle, in, out, direction] {
    using Complex = std::complex<Scalar>;
    const auto length = static_cast<int>(plan.length);
    Eigen::FFT<Scalar> fft;
    fft.SetFlag(Eigen::FFT<Scalar>::Unscaled);
    fft.SetFlag(Eigen::FFT<Scalar>::HalfSpectrum);
    std::vector<Complex> points(static_cast<std::size_t>(length)), spectrum(points.size());
    for (long long row = 0; row < plan.count; ++row) {
      const In* const from = in + row * plan.in_pitch;
      auto* const to = reinterpret_cast<Complex*>(out + row * plan.out_pitch);
      for (int i = 0; i < length; ++i) {
        if constexpr (std::is_same_v<In, Scalar>) {
          points[static_cast<std::size_t>(i)] = from[i];
        } else {
          points[static_cast<std::size_t>(i)] = {from[i].real(), from[i].imag()};
        }
      }
      if (length == 1) {
        spectrum = points;  // Eigen looks for its first factor
      } else if (direction == fft_forward) {
        fft.fwd(spectrum.data(), points.data(), length);
      } else {
        fft.inv(spectrum.data(), points.data(), length);
      }
      const int stored = std::is_same_v<In, Scalar> ? length / 2 + 1 : length;
      std::copy_n(spectrum.data(), stored, to);
    }
  });
  return fft_success;
}

inline constexpr auto fft_z2z = &transform<DoubleComplex, double>;
inline constexpr auto fft_c2c = &transform<FloatComplex, float>;
inline FftStatus fft_d2z(FftHandle handle, double* in, DoubleComplex* out) {
  return transform(handle, in, out, fft_forward);
}
inline FftStatus fft_r2c(FftHandle handle, float* in, FloatComplex* out) {
  return transform(handle, in, out, fft_forward);
}
inline std::string fft_name() {
  return fmt::format("emulated FFT (Eigen {}.{}.{})", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace steelyard::vendor
