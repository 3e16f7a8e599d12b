#include "core/device_fft.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/base/errors.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cufft.h>

#include "core/cuda_check.hpp"
#endif

namespace steelyard {

#if defined(KOKKOS_ENABLE_CUDA)
namespace {

void check(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS) {
    throw RuntimeFailure(fmt::format("{} failed: cuFFT error {}", call, static_cast<int>(status)));
  }
}

int property(libraryPropertyType type) {
  int value = 0;
  check(cufftGetProperty(type, &value), "cufftGetProperty");
  return value;
}

}  // namespace

std::string device_fft_name() {
  return fmt::format("cuFFT {}.{}.{}", property(MAJOR_VERSION), property(MINOR_VERSION), property(PATCH_LEVEL));
}

template <class Scalar>
class DeviceFft<Scalar>::Plan {
 public:
  Plan(const CompanionExecution& queue, const DeviceFftRows& rows) : queue_(queue), rows_(rows) {
    use_device_of(queue_);
    check(cufftCreate(&handle_), "cufftCreate");
    try {
      make();
    } catch (...) {
      cufftDestroy(handle_);
      throw;
    }
  }
  ~Plan() { cufftDestroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void run(Kokkos::complex<Scalar>* data) const {
    use_device_of(queue_);
    const int direction = rows_.inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    if constexpr (std::is_same_v<Scalar, double>) {
      auto* const points = reinterpret_cast<cufftDoubleComplex*>(data);
      rows_.real ? check(cufftExecD2Z(handle_, reinterpret_cast<double*>(data), points), "cufftExecD2Z")
                 : check(cufftExecZ2Z(handle_, points, points, direction), "cufftExecZ2Z");
    } else {
      auto* const points = reinterpret_cast<cufftComplex*>(data);
      rows_.real ? check(cufftExecR2C(handle_, reinterpret_cast<float*>(data), points), "cufftExecR2C")
                 : check(cufftExecC2C(handle_, points, points, direction), "cufftExecC2C");
    }
  }

 private:
  void make() const {
    constexpr bool in_double = std::is_same_v<Scalar, double>;
    const cufftType complex_type = in_double ? CUFFT_Z2Z : CUFFT_C2C;
    const cufftType real_type = in_double ? CUFFT_D2Z : CUFFT_R2C;
    long long length = rows_.length, pitch = rows_.pitch, in_pitch = rows_.real ? 2 * pitch : pitch;
    std::size_t work_bytes = 0;
    check(cufftSetStream(handle_, queue_.cuda_stream()), "cufftSetStream");
    // The pitch stands for an embedding of one dimension, too, without which strides would not count.
    check(cufftMakePlanMany64(handle_, 1, &length, &in_pitch, 1, in_pitch, &pitch, 1, pitch,
                              rows_.real ? real_type : complex_type, rows_.rows, &work_bytes),
          "cufftMakePlanMany64");
  }

  CompanionExecution queue_;
  DeviceFftRows rows_;
  cufftHandle handle_ = 0;
};

template <class Scalar>
DeviceFft<Scalar>::DeviceFft(const CompanionExecution& queue, const DeviceFftRows& rows)
    : plan_(std::make_shared<const Plan>(queue, rows)) {}

template <class Scalar>
void DeviceFft<Scalar>::run(Kokkos::complex<Scalar>* data) const {
  plan_->run(data);
}

#else
namespace {

[[noreturn]] void refuse_fft() { throw RuntimeFailure("this build has no FFT for a device"); }

}  // namespace

std::string device_fft_name() { refuse_fft(); }

template <class Scalar>
class DeviceFft<Scalar>::Plan {};

template <class Scalar>
DeviceFft<Scalar>::DeviceFft(const CompanionExecution& /*queue*/, const DeviceFftRows& /*rows*/) {
  refuse_fft();
}

template <class Scalar>
void DeviceFft<Scalar>::run(Kokkos::complex<Scalar>* /*data*/) const {
  refuse_fft();
}
#endif

template class DeviceFft<double>;
template class DeviceFft<float>;

}  // namespace steelyard
