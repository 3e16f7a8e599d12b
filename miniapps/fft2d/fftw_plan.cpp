#include "miniapps/fft2d/fftw_plan.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard::fft2d {
namespace {

/// FFTW's planner has a memory of its own and serves one thread at a time.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// FFTW has its functions twice.
template <class Scalar>
struct Fftw;

template <>
struct Fftw<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static constexpr auto complex_plan = fftw_plan_dft_1d;
  static constexpr auto real_plan = fftw_plan_dft_r2c_1d;
  static constexpr auto run_complex = fftw_execute_dft;
  static constexpr auto run_real = fftw_execute_dft_r2c;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct Fftw<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static constexpr auto complex_plan = fftwf_plan_dft_1d;
  static constexpr auto real_plan = fftwf_plan_dft_r2c_1d;
  static constexpr auto run_complex = fftwf_execute_dft;
  static constexpr auto run_real = fftwf_execute_dft_r2c;
  static constexpr auto destroy = fftwf_destroy_plan;
};

constexpr std::size_t alignment = 64;

template <class Scalar>
auto fftw_data(const Kokkos::complex<Scalar>* data) {
  // FFTW takes what it only reads as if it wrote it.
  return reinterpret_cast<typename Fftw<Scalar>::Complex*>(const_cast<Kokkos::complex<Scalar>*>(data));
}

unsigned flags(Planner planner) {
  switch (planner) {
    case Planner::estimate:
      return FFTW_ESTIMATE;
    case Planner::patient:
      return FFTW_PATIENT;
    default:
      return FFTW_MEASURE;
  }
}

/// An aligned array to plan with: measuring overwrites it.
template <class Scalar>
class PlanningArray {
 public:
  explicit PlanningArray(std::int64_t points)
      : memory_(static_cast<std::size_t>(points) * 2 * sizeof(Scalar) + alignment) {}
  Kokkos::complex<Scalar>* data() {
    void* place = memory_.data();
    std::size_t space = memory_.size();
    return static_cast<Kokkos::complex<Scalar>*>(std::align(alignment, 1, place, space));
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace

template <class Scalar>
FftwPlan<Scalar>::FftwPlan(const RowTransformation& transformation, Planner planner) {
  if (transformation.length > std::numeric_limits<int>::max()) {
    throw InvalidArgument(fmt::format("FFTW transforms rows of at most {} points, not {}",
                                      std::numeric_limits<int>::max(), transformation.length));
  }
  const int length = static_cast<int>(transformation.length);
  const int sign = transformation.direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD;
  PlanningArray<Scalar> row(length), spectrum(length);
  const std::scoped_lock lock(planner_mutex());
  const auto plan = transformation.real
                        ? Fftw<Scalar>::real_plan(length, reinterpret_cast<Scalar*>(row.data()),
                                                  fftw_data(spectrum.data()), flags(planner) | FFTW_PRESERVE_INPUT)
                        : Fftw<Scalar>::complex_plan(length, fftw_data(row.data()), fftw_data(spectrum.data()), sign,
                                                     flags(planner) | FFTW_PRESERVE_INPUT);
  if (plan == nullptr) throw RuntimeFailure(fmt::format("FFTW has no plan for rows of {} points", length));
  plan_ = std::shared_ptr<void>(plan, [](void* made) {
    const std::scoped_lock destroying(planner_mutex());
    Fftw<Scalar>::destroy(static_cast<typename Fftw<Scalar>::Plan>(made));
  });
}

template <class Scalar>
bool FftwPlan<Scalar>::takes(const void* row) {
  // What FFTW's vector instructions ask for, on all processors.
  return reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
}

template <class Scalar>
void FftwPlan<Scalar>::execute(const Complex* row, Complex* spectrum) const {
  Fftw<Scalar>::run_complex(static_cast<typename Fftw<Scalar>::Plan>(plan_.get()), fftw_data(row), fftw_data(spectrum));
}

template <class Scalar>
void FftwPlan<Scalar>::execute(const Scalar* row, Complex* spectrum) const {
  Fftw<Scalar>::run_real(static_cast<typename Fftw<Scalar>::Plan>(plan_.get()), const_cast<Scalar*>(row),
                         fftw_data(spectrum));
}

template class FftwPlan<double>;
template class FftwPlan<float>;

}  // namespace steelyard::fft2d
