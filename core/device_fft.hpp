#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/spaces.hpp"

namespace steelyard {

/// Whether the vendor's FFT for the companion's device is linked.
#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool has_device_fft = true;
#else
inline constexpr bool has_device_fft = false;
#endif

/// Such as `cuFFT 12.0.0`. @throws RuntimeFailure where no such library is linked
std::string device_fft_name();

/// 1D transforms of rows in the device's memory, in place.
struct DeviceFftRows {
  std::int64_t length = 1;
  std::int64_t rows = 1;
  std::int64_t pitch = 1;  ///< complex numbers from row to row, also of real rows: at least length / 2 + 1 of these
  bool inverse = false;    ///< not of real rows
  bool real = false;       ///< from real numbers to length / 2 + 1 points of their spectrum
};

/// A plan by the vendor's library, unscaled. @tparam Scalar double or float
template <class Scalar>
class DeviceFft {
 public:
  /// @throws RuntimeFailure when the library refuses, or where none is linked
  DeviceFft(const CompanionExecution& queue, const DeviceFftRows& rows);
  /// On the queue that the plan was made for; the caller fences. @throws RuntimeFailure when the library refuses
  void run(Kokkos::complex<Scalar>* data) const;

 private:
  class Plan;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace steelyard
