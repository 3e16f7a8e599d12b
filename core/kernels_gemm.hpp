#pragma once

#include "core/base/errors.hpp"
#include "core/memory/matrix.hpp"

#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>
#endif

namespace steelyard {

/// C = alpha A B + beta C by Kokkos Kernels, for devices whose own BLAS is not known here; the caller fences. Needs
/// m, n, k >= 1. @throws RuntimeFailure in a build without Kokkos Kernels
template <class Execution, class Scalar>
void kernels_gemm([[maybe_unused]] const Execution& space, [[maybe_unused]] Scalar alpha,
                  [[maybe_unused]] const ConstMatrix<Execution, Scalar>& a,
                  [[maybe_unused]] const ConstMatrix<Execution, Scalar>& b, [[maybe_unused]] Scalar beta,
                  [[maybe_unused]] const Matrix<Execution, Scalar>& c) {
#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
  if (c.extent(1) == 1) {
    // Kokkos Kernels 4.5 takes a matrix of one column for contiguous, whatever the distance of its rows is.
    KokkosBlas::gemv(space, "N", alpha, a, Kokkos::subview(b, Kokkos::ALL, 0), beta,
                     Kokkos::subview(c, Kokkos::ALL, 0));
  } else {
    KokkosBlas::gemm(space, "N", "N", alpha, a, b, beta, c);
  }
#else
  throw RuntimeFailure("this build has no BLAS for its device: neither its vendor's nor Kokkos Kernels");
#endif
}

}  // namespace steelyard
