#pragma once

#include "core/base/errors.hpp"
#include "core/host_blas.hpp"
#include "core/memory/matrix.hpp"
#include "core/spaces.hpp"

#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>
#endif

// Ways to multiply that most builds and machines do not take, apart from gemm.cpp for their tests.

namespace steelyard {

/// Multiplies on a host space by a BLAS without threads: each thread of the space computes a slice of C. Needs k >= 1.
template <class Execution, class Scalar>
void sliced_gemm(const Execution& space, const GemmCall<Scalar>& call) {
  static_assert(runs_on_host<Execution>);
  const int threads = static_cast<int>(space.concurrency());
  // Iteration i of a static schedule over as many iterations as threads is thread i's.
  using Policy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, int>;
  Kokkos::parallel_for("steelyard::core::sliced_gemm", Policy(space, 0, threads), [=](const int number) {
    const OpenMpThreads alone(1);
    const GemmCall<Scalar> slice = call.part(number, threads);
    if (!slice.empty()) host_blas_gemm(slice);
  });
  space.fence();
}

/// C = alpha A B + beta C by Kokkos Kernels, for devices whose own BLAS is not known here; the caller fences. Needs
/// m, n, k >= 1. @throws RuntimeFailure in a build without Kokkos Kernels
#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
template <class Execution, class Scalar>
void kernels_gemm(const Execution& space, Scalar alpha, const ConstMatrix<Execution, Scalar>& a,
                  const ConstMatrix<Execution, Scalar>& b, Scalar beta, const Matrix<Execution, Scalar>& c) {
  if (c.extent(1) == 1) {
    // Kokkos Kernels 4.5 takes a matrix of one column for contiguous, whatever the distance of its rows is.
    KokkosBlas::gemv(space, "N", alpha, a, Kokkos::subview(b, Kokkos::ALL, 0), beta,
                     Kokkos::subview(c, Kokkos::ALL, 0));
  } else {
    KokkosBlas::gemm(space, "N", "N", alpha, a, b, beta, c);
  }
}
#else
template <class... Arguments>
void kernels_gemm(const Arguments&... /*all*/) {
  throw RuntimeFailure("this build has no BLAS for its device: neither its vendor's nor Kokkos Kernels");
}
#endif

}  // namespace steelyard
