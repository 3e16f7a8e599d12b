#pragma once

#include "core/host_blas.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace detail {

template <class Scalar>
struct MultiplySlice {
  GemmCall<Scalar> call;
  int slices;

  void operator()(const int number) const {
    const OpenMpThreads alone(1);
    const GemmCall<Scalar> slice = call.part(number, slices);
    if (!slice.empty()) host_blas_gemm(slice);
  }
};

}  // namespace detail

/// The multiplication on a host space by a BLAS that has no threads of its own to offer: each thread of the space
/// computes a slice of C. Needs k >= 1.
template <class Execution, class Scalar>
void sliced_gemm(const Execution& space, const GemmCall<Scalar>& call) {
  static_assert(runs_on_host<Execution>);
  const int threads = static_cast<int>(space.concurrency());
  // Iteration i of a static schedule over as many iterations as threads is thread i's.
  using Policy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, int>;
  Kokkos::parallel_for("steelyard::core::sliced_gemm", Policy(space, 0, threads),
                       detail::MultiplySlice<Scalar>{call, threads});
  space.fence();
}

}  // namespace steelyard
