#pragma once

#include <Kokkos_Complex.hpp>
#include <memory>

#include "miniapps/fft2d/row_pass.hpp"

namespace steelyard::fft2d {

/// FFTW's plan for one row, from one place to another. One row at a time, so that the bits of a row do not depend on
/// those it is transformed with. Any number of threads may execute a plan at the same time; FFTW's own threads have no
/// part in it. Rows begin at multiples of 16 bytes.
/// @tparam Scalar double or float
template <class Scalar>
class FftwPlan {
 public:
  using Complex = Kokkos::complex<Scalar>;

  /// Planning is done by one thread at a time. @throws RuntimeFailure where FFTW has no plan
  FftwPlan(const RowTransformation& transformation, Planner planner);

  /// Whether rows that begin here can be transformed from where they are.
  static bool takes(const void* row);
  /// Unscaled. @param spectrum stored() points, not where `row` is
  void execute(const Complex* row, Complex* spectrum) const;
  /// The same for a real transformation.
  void execute(const Scalar* row, Complex* spectrum) const;

 private:
  std::shared_ptr<void> plan_;
};

}  // namespace steelyard::fft2d
