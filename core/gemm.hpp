#pragma once

#include <string>
#include <type_traits>

#include "core/memory/matrix.hpp"
#include "core/processing_unit.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace detail {

template <class Execution>
inline constexpr ProcessingUnit::Kind unit_kind =
    std::is_same_v<Execution, HostExecution> ? ProcessingUnit::Kind::host : ProcessingUnit::Kind::companion;

// Compiled for the two units only. The kind tells them apart in builds where both have the same execution space.
template <ProcessingUnit::Kind unit, class Execution, class Scalar>
void gemm(const Execution& space, Scalar alpha, const ConstMatrix<Execution, Scalar>& a,
          const ConstMatrix<Execution, Scalar>& b, Scalar beta, const Matrix<Execution, Scalar>& c);
template <ProcessingUnit::Kind unit, class Execution>
std::string gemm_library(const Execution& space);

}  // namespace detail

namespace blas {

/// C = alpha A B + beta C on one unit, double or float, by the host's or the device's BLAS; on a device whose BLAS is
/// not known here by Kokkos Kernels. A host space uses as many threads as it has; on a device the work goes to the
/// space's queue and the caller fences. As in every BLAS, C is written without being read where beta is 0, A and B are
/// not read where alpha is 0, and without a column in A, C becomes beta C. C must not overlap A or B.
/// @tparam Execution of the host unit or of the companion @param a m x k, @param b k x n, @param c m x n: in its memory
/// @throws InvalidArgument for extents that do not fit or that a BLAS cannot count, RuntimeFailure from a device or
/// without a BLAS for it
template <class Execution, class Scalar>
void gemm(const Execution& space, Scalar alpha, const std::type_identity_t<ConstMatrix<Execution, Scalar>>& a,
          const std::type_identity_t<ConstMatrix<Execution, Scalar>>& b, std::type_identity_t<Scalar> beta,
          const std::type_identity_t<Matrix<Execution, Scalar>>& c) {
  static_assert(std::is_same_v<Execution, HostExecution> || std::is_same_v<Execution, CompanionExecution>);
  static_assert(std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float>);
  detail::gemm<detail::unit_kind<Execution>, Execution, Scalar>(space, alpha, a, b, beta, c);
}

/// Library that gemm() calls on this unit, such as `OpenBLAS 0.3.21 (OpenMP), 2 threads` or `cuBLAS 13.0.2`.
template <class Execution>
std::string gemm_library(const Execution& space) {
  return detail::gemm_library<detail::unit_kind<Execution>, Execution>(space);
}

}  // namespace blas
}  // namespace steelyard
