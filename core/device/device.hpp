#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/spaces.hpp"

// Everything that the suite needs of a device besides Kokkos: in `vendor.cpp` by a vendor's run time, BLAS and FFT, in
// `portable.cpp` by Kokkos alone. README.md says how to add a back end.

namespace steelyard {

template <class Scalar>
struct GemmCall;

/// Devices that this process can use; 0 in a host build. Callable before Kokkos is initialised.
int device_count();

/// Model, PCI address and memory of a device; empty in a host build or where the back end does not tell.
struct DeviceFacts {
  std::string name;
  std::string pci_bus;
  double memory_bytes = 0.0;  ///< 0 where unknown
};
DeviceFacts device_facts(int device);

/// Bytes of scratch memory (level 0) that Kokkos leaves to a team of `team_size` threads on the device; 0 on a host.
std::int64_t team_scratch_bytes(int team_size);

/// Number of the device that Kokkos was initialised with; -1 without a device or where the back end does not tell.
int current_device();

/// Selects the calling thread's device, as each thread that uses one must; -1 is none. @throws RuntimeFailure from it
void select_device(int device);

/// Queues of the companion whose work may run at the same time; on a host space they are all the same one.
/// @param device of all of them, that of Kokkos or another one; -1 on a host space
/// @throws RuntimeFailure from a device, and for another one than Kokkos' where that knows one only
std::vector<CompanionExecution> make_queues(int count, int device = current_device());

/// Rows of bytes, `to_pitch` and `from_pitch` bytes apart.
struct RowCopy {
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};

/// Between pinned host memory and the device's, on the queue; the caller fences. @throws RuntimeFailure from the device
void copy_rows_to_device(const CompanionExecution& queue, const RowCopy& copy);
void copy_rows_to_host(const CompanionExecution& queue, const RowCopy& copy);
void copy_rows_on_device(const CompanionExecution& queue, const RowCopy& copy);

/// The end of the work that a queue of the companion had been given when the event was recorded. Other queues wait for
/// it; on back ends without events the host does. A new one stands for no work and has happened.
class QueueEvent {
 public:
  QueueEvent() = default;
  /// @param is_timed whether it has a time, for which the host waits on back ends without events
  /// @throws RuntimeFailure from a device
  static QueueEvent record(const CompanionExecution& queue, bool is_timed = false);
  /// Work that `queue` is given from now on starts after this event. @throws RuntimeFailure from a device
  void make_wait(const CompanionExecution& queue) const;
  /// Seconds from `earlier`, of any queue, to this; both are timed and past. @throws RuntimeFailure from a device
  double seconds_since(const QueueEvent& earlier) const;

 private:
  class Recorded;
  std::shared_ptr<const Recorded> recorded_;
};

/// Name of the device's BLAS, such as `cuBLAS 13.0.2`. @throws RuntimeFailure without the device's own libraries
std::string device_blas_name();

/// Multiplies matrices in the device's memory on the queue; the caller fences. Needs m, n, k >= 1. Multiplications on
/// several queues may overlap. @throws RuntimeFailure when the library refuses, or without the device's own libraries
void device_blas_gemm(const CompanionExecution& queue, const GemmCall<double>& call);
void device_blas_gemm(const CompanionExecution& queue, const GemmCall<float>& call);

/// Name of the device's FFT library, such as `cuFFT 12.0.0`. @throws RuntimeFailure without the device's own libraries
std::string device_fft_name();

/// 1D transforms of rows in the device's memory, in place.
struct DeviceFftRows {
  std::int64_t length = 1;
  std::int64_t rows = 1;
  std::int64_t pitch = 1;  ///< complex numbers from row to row, also of real rows: at least length / 2 + 1 of these
  bool inverse = false;    ///< not of real rows
  bool real = false;       ///< from real numbers to length / 2 + 1 points of their spectrum
};

/// Transforms data on the queue that it was planned for, unscaled; the caller fences.
/// @throws RuntimeFailure when the library refuses
template <class Scalar>
using DeviceFft = std::function<void(Kokkos::complex<Scalar>*)>;

/// Plans transforms by the device's own library. @tparam Scalar double or float
/// @throws RuntimeFailure when the library refuses, or without the device's own libraries
template <class Scalar>
DeviceFft<Scalar> device_fft(const CompanionExecution& queue, const DeviceFftRows& rows);

}  // namespace steelyard
